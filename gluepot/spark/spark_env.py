"""Sets the environment of a Spark driver: one Python for all processes, Java, our defaults, and the class archive.

Spark gets our defaults as a properties file and not through SPARK_CONF_DIR. That folder would stand first on the class
path, and a JVM uses no class archive (`gluepot.spark.class_archive`) if its class path contains a folder.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path

from gluepot.spark import class_archive, java_folder
from gluepot.spark.java import ensure_java

_FOLDER = Path(__file__).parent / "spark_conf"
DEFAULTS = _FOLDER / "spark-defaults.conf"
LOGGING = _FOLDER / "log4j2.properties"
LOGGING_JSON = _FOLDER / "log4j2-json.properties"

DATA_CATALOG = "spark.gluepot.dataCatalog"
"""A setting of Spark. With `false`, SQL sees Spark's own catalog, which is empty at the start of each run."""

LATER_OPTIMISATION = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000"
    " -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
"""The JVM's optimising compiler compiles code only after ten times as many runs as by default (decision 0033).

While Spark starts, it runs much code a few times each. Compiling it took a fifth of the processor time of a start. A
query over a million rows reaches these numbers at once.
"""

LAUNCHER_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Options of the short JVM that `spark-submit` runs to compute the command line of Spark's JVM.

It ends after a fifth of a second. The default collector and the optimising compiler take a third of its processor time.
"""

_PROPERTIES = "--properties-file"
_OWN_COMPILATION = ("-XX:Tier", "TieredCompilation", "-XX:CompileThreshold")
_LOGGING = "-Dlog4j2.configurationFile"


def prepare(environ: MutableMapping[str, str], properties: Path | None = None) -> None:
    """Set the variables that are not set yet. Call it before the first SparkContext.

    Without PYSPARK_PYTHON, workers start the first `python3` on the PATH, which may lack our packages.

    Args:
        environ: the environment of the driver.
        properties: Spark's settings of this run. None means our defaults, unless SPARK_CONF_DIR or
            PYSPARK_SUBMIT_ARGS name others.

    Raises:
        ConfigError: no usable Java was found.
    """
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    environ.setdefault("SPARK_AUTH_SOCKET_TIMEOUT", "60")
    environ.setdefault("SPARK_LAUNCHER_OPTS", LAUNCHER_OPTIONS)
    java = ensure_java(environ)
    environ["JAVA_HOME"] = str(java.home)  # one that Spark cannot use has given way to another
    arguments = environ.get("PYSPARK_SUBMIT_ARGS", "")
    if properties is not None:
        environ["PYSPARK_SUBMIT_ARGS"] = with_properties(arguments, properties)
    elif "SPARK_CONF_DIR" not in environ and _PROPERTIES not in arguments:
        environ["PYSPARK_SUBMIT_ARGS"] = with_properties(arguments, DEFAULTS)
    options = environ.get("SPARK_SUBMIT_OPTS", "")
    if "SPARK_CONF_DIR" not in environ and _LOGGING not in options:
        # The same rule as for our own log lines, see gluepot.core.logging.
        logging = LOGGING if sys.stderr.isatty() else LOGGING_JSON
        options = f"{options} {_LOGGING}={shlex.quote(str(logging))}".strip()
    if not any(own in options for own in _OWN_COMPILATION):
        options = f"{options} {LATER_OPTIMISATION}".strip()
    options = java_folder.with_folder(options, environ)
    environ["SPARK_SUBMIT_OPTS"] = class_archive.with_archive(options, class_archive.archive_path(java.version))


def spark_home(environ: Mapping[str, str]) -> Path:
    """Return the folder of the Spark whose programs are run: SPARK_HOME, otherwise that of PySpark."""
    pyspark = find_spec("pyspark")
    return Path(environ.get("SPARK_HOME") or Path((pyspark and pyspark.origin) or ".").parent)


def with_properties(arguments: str, properties: Path) -> str:
    """Return PYSPARK_SUBMIT_ARGS with a properties file, which replaces one that they name."""
    words = shlex.split(arguments) or ["pyspark-shell"]
    while _PROPERTIES in words:
        at = words.index(_PROPERTIES)
        del words[at : at + 2]
    return shlex.join([_PROPERTIES, str(properties), *words])
