"""The command of a run: which script, with which arguments and settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from gluepot.core.errors import ConfigError
from gluepot.core.job_parameters import EXTRA_PY_FILES
from gluepot.core.python_modules.requests import MODULES, OPTIONS
from gluepot.service.decisions.definitions import is_crawl, is_python_shell, is_quality_run, workers_of
from gluepot.service.decisions.states import Run, effective_arguments

_LOCATION = "--scriptLocation"
_REQUEST = "request.json"
_OF_EVERY_SHELL = {"--job-bookmark-option": "job-bookmark-disable", "--job-language": "python"}


@dataclass(frozen=True, slots=True)
class Command:
    """What is started for a run.

    Args:
        argv: the command.
        files: put into its working folder, by name.
    """

    argv: list[str]
    files: Mapping[str, bytes]


def script_location(run: Run) -> str:
    """Return where the script of a run lies; an argument of the run may name another one than the job."""
    return effective_arguments(run).get(_LOCATION) or str(run.definition["Command"]["ScriptLocation"])


def command_of(run: Run, fetch: Callable[[str], bytes], master: str | None = None) -> Command:
    """Return the command of a run.

    Args:
        run: the run.
        fetch: returns the content of a file, given its path or S3 location.
        master: of the Spark cluster that has the executors; None for this machine. Python shell jobs have none.

    Raises:
        EtlError: the script cannot be fetched.
        ConfigError: an argument has a character that arguments of processes cannot have.
    """
    if is_crawl(run.definition):
        return Command([sys.executable, "-m", "gluepot.crawl", _REQUEST], {_REQUEST: _request(run)})
    if is_quality_run(run.definition):
        return Command([sys.executable, "-m", "gluepot.job.quality", _REQUEST], {_REQUEST: _request(run)})
    location = script_location(run)
    name = PurePosixPath(location).name
    words = _for_shell(run, name) if is_python_shell(run.definition) else _for_spark(run, name, master)
    if any("\0" in word for word in words):
        raise ConfigError("An argument has the character NUL, which no process can be given; remove it.")
    return Command([sys.executable, "-m", *words], {name: fetch(location)})


def _request(run: Run) -> bytes:
    return json.dumps(run.definition["Request"]).encode()


def _for_spark(run: Run, script: str, master: str | None) -> list[str]:
    own = {
        "--JOB_NAME": run.job,
        "--JOB_RUN_ID": run.id,
        "--JOB_ID": f"j_{sha256(run.job.encode()).hexdigest()}",
        **_of_workflow(run),
    }
    options = ["--glue-version", run.definition["GlueVersion"], *_on_cluster(run, master)]
    return ["gluepot", "run", *options, script, "--", *_words(run, own)]


def _on_cluster(run: Run, master: str | None) -> list[str]:
    if master is None:
        return []
    kind, workers = workers_of(run.definition)
    return ["--master", master, "--worker-type", kind, "--number-of-workers", str(workers)]


def _for_shell(run: Run, script: str) -> list[str]:
    given = effective_arguments(run)
    modules = [given.get(f"--{name}", "") for name in (MODULES, OPTIONS, EXTRA_PY_FILES)]
    usual = {name: given.get(name, value) for name, value in _OF_EVERY_SHELL.items()}
    own = {**usual, _LOCATION: script_location(run), **_of_workflow(run)}
    return ["gluepot.service.launch.python_shell", *modules, script, *_words(run, own)]


def _of_workflow(run: Run) -> dict[str, str]:
    return {"--WORKFLOW_NAME": run.workflow, "--WORKFLOW_RUN_ID": run.chain} if run.workflow else {}


def _words(run: Run, own: Mapping[str, str]) -> list[str]:
    """Return the words of a run's arguments: its own ones, which nobody else chooses, and the others."""
    others = {name: value for name, value in effective_arguments(run).items() if name not in {*own, _LOCATION}}
    return [word for pair in {**own, **others}.items() for word in as_words(*pair)]


def as_words(name: str, value: str) -> list[str]:
    """Return an argument as the script finds it in `sys.argv`; one without a value is a flag."""
    return [name, value] if value else [name]
