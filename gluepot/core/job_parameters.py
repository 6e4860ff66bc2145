"""Glue's special job parameters, as `gluepot run SCRIPT -- ...` gets them (AWS Glue guide, job parameters)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.glue_version import DEFAULT, checked_glue_version
from gluepot.core.option_values import is_true, truth
from gluepot.core.python_modules.requests import MODULES, OPTIONS, Request, request_of

DATALAKE_FORMATS = ("hudi", "delta", "iceberg")
EXTRA_PY_FILES = "extra-py-files"
PYTHON_FILES = (".py", ".zip", ".egg", ".whl")

_LOGS = "logs go to stderr"
_OWN_COMMIT = "files are published by Gluepot's own commit"
_NO_ARCHIVE = "Gluepot does not unpack it; name its modules in --additional-python-modules"
MEANINGLESS = {
    "class": "it names a Scala class",
    "scriptLocation": "the script is the argument of `gluepot run`",
    "python-virtual-env": _NO_ARCHIVE,
    "python-virtual-env-storage-prefix": _NO_ARCHIVE,
    "python-virtual-env-version": _NO_ARCHIVE,
    "enable-job-insights": _LOGS,
    "enable-continuous-cloudwatch-log": _LOGS,
    "enable-continuous-log-filter": _LOGS,
    "continuous-log-logGroup": _LOGS,
    "continuous-log-logStreamPrefix": _LOGS,
    "continuous-log-conversionPattern": _LOGS,
    "custom-logGroup-prefix": _LOGS,
    "custom-logStream-prefix": _LOGS,
    "auto-scale-within-microbatch": "workers change between batches only",
    "enable-s3-parquet-optimized-committer": _OWN_COMMIT,
    "enable-rename-algorithm-v2": _OWN_COMMIT,
    "enable-lakeformation-fine-grained-access": "there is no Lake Formation outside AWS",
    "enable-real-time-mode": "it is for Scala scripts",
    "use-postgres-driver": "bring the driver with --extra-jars",
    "disable-proxy-v2": "there is no proxy",
    "encryption-type": "encryption is a setting of the bucket",
}
"""Parameters that have no effect outside AWS, each with the reason."""

_FLAGS = (
    *("enable-auto-scaling", "enable-observability-metrics", "enable-data-lineage", "enable-spark-ui"),
    "user-jars-first",
)
LACKING = frozenset({OPTIONS, *_FLAGS, *(name for name, reason in MEANINGLESS.items() if reason is _NO_ARCHIVE)})
"""Parameters that a job may need. If one of them has no effect, that is a warning."""

# Their values begin with dashes themselves.
_OF_DASHES = frozenset({OPTIONS})

KNOWN = frozenset(
    {
        *MEANINGLESS,
        *("JOB_NAME", "JOB_RUN_ID", "JOB_ID", "TempDir", "conf", "job-language", "extra-py-files", "extra-jars"),
        *("user-jars-first", "extra-files", "enable-auto-scaling", "enable-metrics", "enable-observability-metrics"),
        *("enable-data-lineage", "enable-glue-datacatalog", "datalake-formats", "enable-spark-ui", "executor-cores"),
        *("spark-event-logs-path", "customer-driver-env-vars", "customer-executor-env-vars", "continuation-option"),
        *("job-bookmark-option", "job-bookmark-from", "job-bookmark-to"),
        *(MODULES, OPTIONS),
    }
)
"""Names of Glue's parameters."""

# Arguments that AWS gives to scripts.
_OF_SCRIPTS = frozenset({"RedshiftTempDir", "WORKFLOW_NAME", "WORKFLOW_RUN_ID", "SECURITY_CONFIGURATION"})
_NEARLY = 0.9

_CONF_SEPARATOR = re.compile(r"\s+--conf[\s=]\s*")
_ENV_VAR = re.compile(r"""\s*([^=,\s]+)=("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A parameter that was given but has no effect outside AWS."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class JobParameters:
    """The parameters of a job, from its command line.

    Args:
        argv: the script's `sys.argv`: everything as given, plus `JOB_NAME`, `JOB_RUN_ID`, `JOB_ID` if they were absent.
        job_name: `--JOB_NAME`, or the script's name without its suffix.
        run_id: `--JOB_RUN_ID`, or a new one.
        job_id: `--JOB_ID`, or a new one.
        glue_version: the version whose behaviour the job gets.
        temp_dir: `--TempDir`, or None.
        conf: Spark settings of `--conf`; if one is repeated, the last value counts.
        extra_py_files: files for the Python path.
        python_modules: what pip installs for the job, and with which options.
        extra_jars: files for the Java class path.
        user_jars_first: whether the extra jars come before Spark's own.
        extra_files: files for the working folder.
        enable_auto_scaling: whether the number of workers follows the load.
        enable_metrics: whether the flag was given, with any value.
        enable_observability_metrics: whether the run reports them to the service that has started it.
        enable_data_lineage: whether events of runs and batches go to OpenLineage.
        data_catalog: whether the databases and tables of Spark SQL are those of the Data Catalog; False only if the
            parameter says false. In Glue they are only if it is given, which the console does for each new job.
        datalake_formats: formats out of `DATALAKE_FORMATS`.
        spark_event_logs_path: where Spark's event log goes, empty for our own folder; None if it is not enabled.
        executor_cores: task slots of an executor, or None.
        driver_env_vars: environment variables of the driver; their names begin with `CUSTOMER_`.
        executor_env_vars: environment variables of the executors; their names begin with `CUSTOMER_`, too.
        ignored: parameters that have no effect, in the order given.
        misspelled: names that Glue does not define and that are nearly a name that it does, each with that name.
    """

    argv: tuple[str, ...]
    job_name: str
    run_id: str
    job_id: str
    glue_version: str = DEFAULT
    temp_dir: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    extra_py_files: tuple[str, ...] = ()
    python_modules: Request = field(default_factory=Request)
    extra_jars: tuple[str, ...] = ()
    user_jars_first: bool = False
    extra_files: tuple[str, ...] = ()
    enable_auto_scaling: bool = False
    enable_metrics: bool = False
    enable_observability_metrics: bool = False
    enable_data_lineage: bool = False
    data_catalog: bool = True
    datalake_formats: tuple[str, ...] = ()
    spark_event_logs_path: str | None = None
    executor_cores: int | None = None
    driver_env_vars: Mapping[str, str] = field(default_factory=dict)
    executor_env_vars: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()
    misspelled: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(
        cls,
        argv: Sequence[str],
        glue_version: str = DEFAULT,
        new_hex: Callable[[], str] = lambda: secrets.token_hex(32),
    ) -> JobParameters:
        """Read a command line. Arguments that Glue does not define belong to the script and are not checked.

        Args:
            argv: the script's path, then its arguments (`--KEY value`, `--KEY=value`, or `--FLAG` alone).
            glue_version: from `--glue-version`.
            new_hex: returns 64 hexadecimal digits, for an id that was not given.

        Raises:
            ConfigError: a value is missing or wrong.
        """
        given = list(_pairs(argv[1:]))
        last = dict(given)
        _require_values(last)
        if last.get("job-language", "python") != "python":
            raise ConfigError(f"--job-language is {last['job-language']!r}; only python scripts run here")
        ids = {
            "JOB_NAME": last.get("JOB_NAME") or Path(argv[0]).stem,
            "JOB_RUN_ID": last.get("JOB_RUN_ID") or f"jr_{new_hex()}",
            "JOB_ID": last.get("JOB_ID") or f"j_{new_hex()}",
        }
        # These come before the user's own arguments, because the last value of a repeated name counts.
        added = [token for name, value in ids.items() if name not in last for token in (f"--{name}", value)]
        return cls(
            argv=(argv[0], *added, *argv[1:]),
            job_name=ids["JOB_NAME"],
            run_id=ids["JOB_RUN_ID"],
            job_id=ids["JOB_ID"],
            glue_version=checked_glue_version(glue_version),
            temp_dir=last.get("TempDir") or None,
            conf=_conf([value for name, value in given if name == "conf"]),
            extra_py_files=python_files(last.get(EXTRA_PY_FILES, "")),
            python_modules=request_of(last.get(MODULES, ""), last.get(OPTIONS, "")),
            extra_jars=_comma_list(last, "extra-jars"),
            user_jars_first=is_on(last.get("user-jars-first")),
            extra_files=_comma_list(last, "extra-files"),
            enable_auto_scaling=is_on(last.get("enable-auto-scaling")),
            enable_metrics="enable-metrics" in last,
            enable_observability_metrics=is_on(last.get("enable-observability-metrics")),
            enable_data_lineage=is_on(last.get("enable-data-lineage")),
            data_catalog=truth(last.get("enable-glue-datacatalog", "true")) is not False,
            datalake_formats=_datalake_formats(_comma_list(last, "datalake-formats")),
            spark_event_logs_path=_event_logs(last),
            executor_cores=_executor_cores(last.get("executor-cores")),
            driver_env_vars=_env_vars(last.get("customer-driver-env-vars", "")),
            executor_env_vars=_env_vars(last.get("customer-executor-env-vars", "")),
            ignored=tuple(_ignored(last)),
            misspelled=tuple((name, meant) for name in last if (meant := _meant(name)) is not None),
        )


def _ignored(given: Mapping[str, str]) -> Iterator[Ignored]:
    yield from (Ignored(name, MEANINGLESS[name]) for name in given if name in MEANINGLESS)
    for name in _FLAGS:
        if (value := given.get(name)) and truth(value) is None:
            yield Ignored(name, f"its value is {value!r}; write true or false")
    if given.get(OPTIONS) and not given.get(MODULES):
        yield Ignored(OPTIONS, f"there is no --{MODULES}")


def is_on(value: object) -> bool:
    """Return whether a parameter switches something on: it is given, without a value or with one that says true."""
    return value is not None and (value == "" or is_true(value))


def _meant(name: str) -> str | None:
    """Return the parameter of Glue that a name of another spelling is nearly; None for a script's own argument."""
    if name in KNOWN or name in _OF_SCRIPTS:
        return None
    folded = {known.lower().replace("_", "-"): known for known in KNOWN}
    near = get_close_matches(name.lower().replace("_", "-"), folded, n=1, cutoff=_NEARLY)
    return folded[near[0]] if near else None


def _pairs(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield name and value of every `--` argument; the value of a flag is empty."""
    for at, token in enumerate(tokens):
        if not token.startswith("--") or (at and tokens[at - 1].removeprefix("--") in _OF_DASHES):
            continue
        name, equals, value = token[2:].partition("=")
        following = tokens[at + 1] if at + 1 < len(tokens) else "--"
        if equals:
            yield name, value
        else:
            yield name, "" if following.startswith("--") and name not in _OF_DASHES else following


def _require_values(given: Mapping[str, str]) -> None:
    for name in ("JOB_NAME", "conf", "extra-py-files", "extra-jars", "extra-files", "datalake-formats"):
        if given.get(name) == "":
            raise ConfigError(f"--{name} has no value; write it behind the name, or leave the parameter out")


def _conf(values: Sequence[str]) -> dict[str, str]:
    """Split `k=v --conf k2=v2`, which is how Glue packs several settings into one value."""
    settings = {}
    for value in values:
        for setting in _CONF_SEPARATOR.split(value.strip()):
            key, equals, text = setting.strip().partition("=")
            if not (key and equals):
                raise ConfigError(f"--conf has {setting!r}, which is not key=value; write spark.some.key=value")
            settings[key] = text
    return settings


def _comma_list(given: Mapping[str, str], name: str) -> tuple[str, ...]:
    return _items(given.get(name, ""))


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for item in (part.strip() for part in text.split(",")) if item)


def python_files(text: str) -> tuple[str, ...]:
    """Return the paths that `--extra-py-files` has, separated by commas.

    Raises:
        ConfigError: one of them is no module and no archive.
    """
    paths = _items(text)
    for path in paths:
        if not path.endswith(PYTHON_FILES):
            raise ConfigError(
                f"--extra-py-files has {path!r}; it takes single files that end in {', '.join(PYTHON_FILES)}"
            )
    return paths


def _datalake_formats(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in DATALAKE_FORMATS:
            hint = did_you_mean(name, DATALAKE_FORMATS)
            raise ConfigError(f"--datalake-formats has {name!r}; use {', '.join(DATALAKE_FORMATS)}.{hint}")
    return names


def _event_logs(given: Mapping[str, str]) -> str | None:
    return given.get("spark-event-logs-path", "") if is_on(given.get("enable-spark-ui")) else None


def _executor_cores(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isdecimal() and int(text) > 0):
        raise ConfigError(f"--executor-cores is {text!r}; write an integer above 0")
    return int(text)


def _env_vars(text: str) -> dict[str, str]:
    """Read `CUSTOMER_K=V,CUSTOMER_K2="v, w"`; other names are ignored, as the guide says."""
    pairs = {match[1]: match[2].strip() for match in _ENV_VAR.finditer(text)}
    return {name: _unquoted(value) for name, value in pairs.items() if name.startswith("CUSTOMER_")}


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
