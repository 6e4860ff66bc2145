"""Java drivers of databases: their archives, and the classes in these."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.core.errors import ConfigError
from gluepot.core.storage import open_storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# For the vendors of which Spark's class path or a script may have several drivers, or whose drivers are not announced.
_CLASSES = {
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "oracle": "oracle.jdbc.OracleDriver",
    "snowflake": "net.snowflake.client.jdbc.SnowflakeDriver",
    "db2": "com.ibm.db2.jcc.DB2Driver",
    "h2": "org.h2.Driver",
}
# Archives that were added, with the application they were added to.
_ADDED: set[tuple[str, str]] = set()


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver of a database.

    Args:
        java: the driver, an object of the JVM.
        name: its class.
    """

    java: Any
    name: str


def driver_of(spark: SparkSession, endpoint: JdbcEndpoint) -> Driver:
    """Return the driver of a database; its archive is added if the script names one.

    Raises:
        ConfigError: no archive has it.
    """
    if endpoint.driver_jar:
        add_driver(spark, endpoint.driver_jar)
    jvm: Any = spark._jvm  # noqa: SLF001  Python has no other way to a driver
    loader = spark._jsparkSession.sharedState().jarClassLoader()  # noqa: SLF001  as above
    # Spark looks for the class in what the thread knows, and each thread of Python has one of Java.
    jvm.java.lang.Thread.currentThread().setContextClassLoader(loader)
    wanted = endpoint.driver_class or _CLASSES.get(endpoint.vendor)
    with suppress(Py4JError):
        if wanted:
            return Driver(loader.loadClass(wanted).newInstance(), wanted)
    if not endpoint.driver_class:
        base = loader.loadClass("java.sql.Driver")
        offered = jvm.java.util.ServiceLoader.load(base, loader).iterator()
        while offered.hasNext():
            one = offered.next()
            with suppress(Py4JError):
                if one.acceptsURL(endpoint.jdbc_url):
                    return Driver(one, str(one.getClass().getName()))
    looked_for = f"the class {wanted}" if wanted else f"a driver of {endpoint.vendor}"
    raise ConfigError(
        f"There is no Java driver for {endpoint.shown}: {looked_for} is in no archive; name the archive in"
        " customJdbcDriverS3Path, or bring it with --extra-jars."
    )


def add_driver(spark: SparkSession, jar: str) -> None:
    """Make the classes of an archive available to driver and executors, by Spark's own statement for that; once.

    Raises:
        ConfigError: the archive does not exist, or its path cannot be written in a statement.
    """
    added = (spark.sparkContext.applicationId, jar)
    if added in _ADDED:
        return
    if jar.startswith("s3"):
        folder, _, name = jar.rpartition("/")
        local = Path(tempfile.mkdtemp(prefix="gluepot-driver-")) / name
        try:
            local.write_bytes(open_storage(folder).get(name))
        except FileNotFoundError as missing:
            raise ConfigError(_no_archive(jar)) from missing
        jar = str(local)
    if "'" in jar or "\\" in jar:
        raise ConfigError(f"customJdbcDriverS3Path is {jar!r}; rename the file so that its path has no quotes.")
    if jar.startswith("/") and not Path(jar).is_file():
        raise ConfigError(_no_archive(jar))
    spark.sql(f"ADD JAR '{jar}'")
    if jar.startswith("/"):
        # Spark's own threads read the exceptions of tasks, and know the classes of the loader above alone.
        jvm: Any = spark._jvm  # noqa: SLF001  as above
        above = spark._jsparkSession.sharedState().jarClassLoader().getParent()  # noqa: SLF001  as above
        with suppress(Py4JError):  # it takes archives if Spark was started as usual
            above.addURL(jvm.java.io.File(jar).toURI().toURL())
    _ADDED.add(added)


def _no_archive(jar: str) -> str:
    return f"There is no file {jar!r}, which customJdbcDriverS3Path names; put the archive of the driver there."
