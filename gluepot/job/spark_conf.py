"""The Spark configuration of one run: defaults, the Glue version, the job's parameters; the script wins over all."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.core.glue_version import PROFILES
from gluepot.core.job_parameters import JobParameters
from gluepot.core.sockets import LOOPBACK
from gluepot.spark.spark_env import DATA_CATALOG, DEFAULTS


def job_conf(parameters: JobParameters, master: str) -> dict[str, str]:
    """Return the settings of a run beyond our defaults; `--conf` comes last and wins.

    Args:
        parameters: Glue's job parameters.
        master: `local[*]`, `spark://...`, `k8s://...`.
    """
    conf = {"spark.master": master, "spark.app.name": parameters.job_name}
    conf |= PROFILES[parameters.glue_version].spark_conf
    if master.startswith("local"):
        # One machine: nothing of it needs to be reached from outside.
        conf |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    if not parameters.data_catalog:
        conf[DATA_CATALOG] = "false"
    if parameters.extra_py_files:
        conf["spark.submit.pyFiles"] = ",".join(parameters.extra_py_files)
    if parameters.extra_files:
        conf["spark.files"] = ",".join(parameters.extra_files)
    if parameters.extra_jars:
        conf["spark.jars"] = ",".join(parameters.extra_jars)
    if parameters.user_jars_first:
        conf |= {"spark.driver.userClassPathFirst": "true", "spark.executor.userClassPathFirst": "true"}
    if parameters.spark_event_logs_path:
        conf |= {
            "spark.ui.enabled": "true",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": parameters.spark_event_logs_path,
            # Each run on a machine has a page on a port of its own, from 4040 on. By default, the 18th cannot start.
            "spark.port.maxRetries": "1000",
        }
    if parameters.executor_cores:
        conf["spark.executor.cores"] = str(parameters.executor_cores)
    conf |= {f"spark.executorEnv.{name}": value for name, value in parameters.executor_env_vars.items()}
    return conf | dict(parameters.conf)


def properties_text(conf: Mapping[str, str]) -> str:
    """Return the text of a run's properties file: our defaults, then its own settings."""
    lines = "".join(f"{name} {value}\n" for name, value in conf.items())
    return f"{DEFAULTS.read_text()}\n# This run\n{lines}"
