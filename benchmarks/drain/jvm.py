"""A JVM for a side that is no Spark: its own archives, and Hadoop's client out of PySpark's."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from gluepot.servers import jars
from gluepot.spark.java import ensure_java

HEAP = "-Xmx4g"


def started(jar_set: str) -> JavaGateway:
    """Start a JVM with a set of archives, see deploy/jars.lock.json; it ends with this process."""
    hadoop = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-*.jar")
    port, token = launch_gateway(
        classpath=os.pathsep.join(map(str, [*jars.ensure(jar_set), *hadoop])),
        javaopts=[HEAP],
        java_path=str(ensure_java(os.environ).java),
        die_on_exit=True,
        enable_auth=True,
    )
    return JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
