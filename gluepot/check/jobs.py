"""Checks definitions of jobs, as `aws glue get-jobs` prints them: what of them has an effect here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gluepot.check.finding import NOT_FOUND, Finding, Level
from gluepot.core.errors import ConfigError
from gluepot.core.glue_version import PROFILES
from gluepot.core.job_parameters import JobParameters
from gluepot.core.python_modules.requests import MODULES, name_of, request_of

_KINDS = frozenset({"glueetl", "gluestreaming", "pythonshell"})
_WITH_THE_SERVICE = "it runs with the service, `gluepot serve`"
_IN_A_SERVICE = {
    "pythonshell": f"a Python shell job is no Spark script; {_WITH_THE_SERVICE}",
}


@dataclass(frozen=True, slots=True)
class Job:
    """The definition of a job.

    Args:
        name: of the job.
        kind: glueetl, gluestreaming, pythonshell or glueray; empty where the definition does not say.
        script: where its script lies.
        glue_version: as given; empty where the definition does not say.
        arguments: default and fixed ones, by name with its dashes.
        connections: names of Glue connections.
        security_configuration: its name; empty without one.
    """

    name: str
    kind: str = ""
    script: str = ""
    glue_version: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    connections: Sequence[str] = ()
    security_configuration: str = ""

    @property
    def script_name(self) -> str:
        """The name of the script's file."""
        return self.script.rstrip("/").rpartition("/")[2]


def jobs_of(dump: Any, origin: str) -> list[Job]:
    """Read what `aws glue get-jobs` or `get-job` printed.

    Args:
        dump: the JSON as plain values.
        origin: where it comes from, for messages.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(dump, dict):
        found = dump["Jobs"] if "Jobs" in dump else [dump["Job"]] if "Job" in dump else None
        if isinstance(found, list) and all(isinstance(one, dict) and one.get("Name") for one in found):
            return [_job(one) for one in found]
    raise ConfigError(f"{origin} holds no jobs; give what `aws glue get-jobs` or `aws glue get-job` printed.")


def _job(body: Mapping[str, Any]) -> Job:
    command = body.get("Command") or {}
    arguments = {**(body.get("DefaultArguments") or {}), **(body.get("NonOverridableArguments") or {})}
    return Job(
        name=str(body["Name"]),
        kind=str(command.get("Name") or ""),
        script=str(command.get("ScriptLocation") or ""),
        glue_version=str(body.get("GlueVersion") or ""),
        arguments={str(name): str(value) for name, value in arguments.items()},
        connections=tuple(map(str, (body.get("Connections") or {}).get("Connections") or ())),
        security_configuration=str(body.get("SecurityConfiguration") or ""),
    )


def modules_of(job: Job) -> set[str]:
    """Return the modules that the arguments of a job bring, as far as names of packages and files tell. Pure."""
    try:
        request = request_of(job.arguments.get(f"--{MODULES}", ""), "")
    except ConfigError:
        return set()
    names = (name_of(module) for module in request.modules)
    files = (path.strip().rpartition("/")[2] for path in job.arguments.get("--extra-py-files", "").split(","))
    return {*names, *(file.removesuffix(".py") for file in files if file.endswith(".py"))}


def about_job(job: Job, *, script_is_there: bool) -> Iterator[Finding]:
    """Yield what there is to say of a definition. Pure.

    Args:
        job: the definition.
        script_is_there: whether its script was found among the files.
    """
    if job.kind and job.kind not in _KINDS:
        yield _of_job(Level.NOT_SUPPORTED, job.kind, f"jobs of the type {job.kind} do not run here")
    if not script_is_there:
        yield _of_job(
            Level.WARNING,
            NOT_FOUND,
            f"{job.script or 'its script'} is not among the files; fetch it and name its folder",
        )
    if job.kind in _IN_A_SERVICE:
        yield _of_job(Level.WARNING, job.kind, _IN_A_SERVICE[job.kind])
    if job.glue_version and job.glue_version not in PROFILES and job.kind != "pythonshell":
        message = f"its Spark is not imitated; start it with --glue-version {min(PROFILES)}, and compare its results"
        yield _of_job(Level.WARNING, f"Glue {job.glue_version}", message)
    yield from _about_arguments(job)
    for name in job.connections:
        message = f"the job uses the connection {name}; describe it in gluepot.connections.yaml or in the service"
        yield _of_job(Level.WARNING, "no-connection", message)
    if job.security_configuration:
        message = "keys and encryption are settings of the stores; it has no effect"
        yield _of_job(Level.WARNING, f"SecurityConfiguration {job.security_configuration}", message)


def _about_arguments(job: Job) -> Iterator[Finding]:
    tokens = [token for name, value in job.arguments.items() for token in ((name, value) if value else (name,))]
    try:
        parameters = JobParameters.parse([job.script_name or "job.py", *tokens])
    except ConfigError as wrong:
        yield _of_job(Level.NOT_SUPPORTED, "DefaultArguments", str(wrong))
        return
    for ignored in parameters.ignored:
        yield _of_job(Level.WARNING, f"--{ignored.name}", f"has no effect: {ignored.reason}")
    for name, meant in parameters.misspelled:
        yield _of_job(Level.WARNING, f"--{name}", f"is no parameter of Glue; did you mean --{meant}?")
    if "hudi" in parameters.datalake_formats:
        message = "no build of Hudi for Spark 4.1 is known; bring one with --extra-jars"
        yield _of_job(Level.WARNING, "no-format", message)


def _of_job(level: Level, name: str, message: str) -> Finding:
    return Finding(0, level, name, message)
