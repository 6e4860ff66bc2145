"""The effective settings of a run and of a query, each with the origin of its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.core.masking import mask
from gluepot.web.figures import span

DEFAULT = "default"
_GROUPS = (
    ("arguments", "after --"),
    ("conf", "--conf"),
    ("driver_env_vars", "--customer-driver-env-vars"),
    ("executor_env_vars", "--customer-executor-env-vars"),
)


# The names that scripts use for the fields of `StreamSettings`.
_OF_SCRIPT = {
    "window_size_secs": "windowSize",
    "checkpoint_location": "checkpointLocation",
    "batch_max_retries": "batchMaxRetries",
    "persist": "persistDataFrame",
    "storage_level": "storageLevel",
    "rejects_path": "rejectsPath",
    "allow_overlap": "allowOverlap",
    "on_batch_failure": "onBatchFailure",
    "quarantine_limit": "quarantineLimit",
    "small_batch_records": "smallBatchRecords",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value.

    Args:
        name: name of the setting as users write it.
        value: value as text.
        origin: where the value comes from.
    """

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class RunOption:
    """An option of `gluepot run`.

    Args:
        name: name of the option.
        value: the effective value.
        default: the default value.
        variable: the environment variable that sets the option if the command line does not; empty if there is none.
        file: the project file, if the value comes from there.
    """

    name: str
    value: Any
    default: Any = None
    variable: str = ""
    file: str = ""


def of_run(options: Iterable[RunOption], shown: Mapping[str, Any], environ: Mapping[str, str]) -> list[Setting]:
    """Return the options of `gluepot run`.

    Args:
        options: the options with their effective values.
        shown: their values without secrets.
        environ: environment of the process.
    """
    return [Setting(one.name.replace("_", "-"), _text(shown[one.name]), _origin(one, environ)) for one in options]


def _origin(option: RunOption, environ: Mapping[str, str]) -> str:
    if option.value == option.default:
        return DEFAULT
    if option.file:
        return option.file
    return option.variable if environ.get(option.variable) == str(option.value) else "command line"


def of_job(config: Mapping[str, Any]) -> list[Setting]:
    """Return the settings of the job, from the groups of `/config`."""
    return [
        Setting(name, _text(value), origin)
        for group, origin in _GROUPS
        for name, value in config.get(group, {}).items()
    ]


def of_query(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Setting]:
    """Return the settings of a query. Values that differ from the default come from the script or `gluepot run`."""
    return [
        Setting(
            _OF_SCRIPT.get(name, name),
            str(span(value)) if name.endswith("_secs") else _text(value),
            DEFAULT if name in defaults and value == defaults[name] else "forEachBatch options",
        )
        for name, value in mask(settings).items()
    ]


def changed_first(settings: Iterable[Setting]) -> list[Setting]:
    """Return the settings sorted: first those that somebody set, then those with default values."""
    return sorted(settings, key=lambda one: one.origin == DEFAULT)


def _text(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
