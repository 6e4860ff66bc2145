"""The project file `gluepot.toml`: what `gluepot run` takes as flags, and the servers that `gluepot up` starts.

The tables follow the options, so that a new option of `gluepot run` is a key of the file, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from cyclopts import App, Parameter
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic import Field as Described

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.job.options import DEFAULT_OPTIONS, RunOptions

SCHEMA_URL = "https://raw.githubusercontent.com/gluepot/gluepot/main/docs/gluepot.schema.json"

Value = str | bool | int | float
Port = Annotated[int, Described(ge=0, le=65_535)]
Pieces = Annotated[int, Described(ge=1, le=10_000)]

PAIRS: Mapping[str, str] = {"stream_option": "stream-options", "batch_option": "batch-options", "advisor": "advisor"}
"""The options that are NAME=VALUE, and the tables that hold them."""


def key_of(name: str) -> str:
    """Return the key of an option, which is its name on the command line."""
    return PAIRS.get(name, name.replace("_", "-"))


class Section(BaseModel):
    """A table of the file. It has no keys but those that are declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=key_of)


class Kafka(Section):
    """The development broker."""

    port: Port = Described(default=0, description="The port that clients connect to; 0 takes a free one.")
    topics: Mapping[str, Pieces] = Described(
        default={}, description="Topics to create, with their numbers of partitions."
    )


class Kinesis(Section):
    """The Kinesis emulator. It needs Node.js."""

    port: Port = Described(default=0, description="The port that clients connect to; 0 takes a free one.")
    streams: Mapping[str, Pieces] = Described(
        default={}, description="Streams to create, with their numbers of shards."
    )


class S3(Section):
    """The S3 emulator. It needs the extra `dev`."""

    port: Port = Described(default=0, description="The port that clients connect to; 0 takes a free one.")
    buckets: Sequence[str] = Described(default=(), description="Buckets to create.")


class History(Section):
    """Spark's history server."""

    port: Port = Described(default=0, description="The port of its page; 0 takes a free one.")
    logs: str | None = Described(
        default=None, description="The folder of event logs, local or s3://; that of jobs which name none by default."
    )


class Servers(Section):
    """The development servers that `gluepot up` without a name starts."""

    kafka: Kafka | None = None
    kinesis: Kinesis | None = None
    s3: S3 | None = None
    history: History | None = None


class Job(Section):
    """What `gluepot run` does."""

    script: str | None = Described(default=None, description="The job script.")
    job_name: str | None = Described(default=None, description="The argument --JOB_NAME of the script.")
    arguments: Mapping[str, Value] = Described(
        default={}, description="Glue's job parameters and the script's own arguments, without leading dashes."
    )


def _help_texts() -> dict[str, str]:
    """Return the help of each option by its name in `RunOptions`, as the command line shows it."""

    def run(*, options: Annotated[RunOptions, Parameter(name="*")] = DEFAULT_OPTIONS) -> None:
        """Stand for `gluepot run`."""

    command = App(default_command=run)
    arguments = command.assemble_argument_collection(parse_docstring=True)
    return {one.keys[-1]: " ".join((one.parameter.help or "").split()) for one in arguments if one.keys}


def _declared(option: Field[Any], hint: Any, description: str) -> tuple[Any, Any]:
    sentence = description[:1].upper() + description[1:]
    if option.name in PAIRS:
        text = description.removeprefix("NAME=VALUE; ").removeprefix("NAME=VALUE ").removesuffix(" May be repeated.")
        return Mapping[str, Value], Described(default={}, description=text[:1].upper() + text[1:])
    if Path in get_args(hint):
        hint = str | None
    return hint, Described(default=None if option.default is MISSING else option.default, description=sentence)


if TYPE_CHECKING:
    Run = Job
else:
    _HINTS, _HELP = get_type_hints(RunOptions), _help_texts()
    _OPTIONS = {one.name: _declared(one, _HINTS[one.name], _HELP[one.name]) for one in fields(RunOptions)}
    Run = create_model("Run", __base__=Job, __doc__=Job.__doc__, **_OPTIONS)


class Project(Section):
    """Runs one job with `gluepot run` and starts its development servers with `gluepot up`."""

    model_config = ConfigDict(title="gluepot.toml")

    run: Run = Described(
        default=Run(), description="What `gluepot run` does where no flag and no variable says otherwise."
    )
    servers: Servers = Described(default=Servers(), description="The servers that `gluepot up` without a name starts.")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project file that was read.

    Args:
        path: of the file; paths in it are relative to its folder.
        project: what it says.
    """

    path: Path
    project: Project

    def options(self) -> dict[str, Any]:
        """Return the options of `gluepot run` that the file sets, by their names in `RunOptions`."""
        run = self.project.run
        paths = {name for name, hint in get_type_hints(RunOptions).items() if Path in get_args(hint)}
        return {
            one.name: self._placed(Path(getattr(run, one.name))) if one.name in paths else getattr(run, one.name)
            for one in fields(RunOptions)
            if one.name in run.model_fields_set and getattr(run, one.name) is not None
        }

    @property
    def script(self) -> str | None:
        """The job script."""
        return None if self.project.run.script is None else str(self._placed(Path(self.project.run.script)))

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the script by name, the job's name among them."""
        run = self.project.run
        name = {} if run.job_name is None else {"JOB_NAME": run.job_name}
        return name | {key: text_of(value) for key, value in run.arguments.items()}

    def _placed(self, path: Path) -> Path:
        """Return a path of the file as this process can use it; it stays relative in the file's own folder."""
        folder = self.path.parent
        return path if folder.resolve() == Path.cwd() else folder / path


def text_of(value: str | float) -> str:
    """Return a value as an argument or an option has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_project(path: Path) -> ProjectFile:
    """Read a project file.

    Raises:
        ConfigError: it is not TOML, or it has an unknown key or a wrong value.
    """
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as wrong:
        raise ConfigError(f"{path} is not TOML ({wrong}); correct it.") from wrong
    file = ProjectFile(path, parsed(plain, path.name))
    _check_ranges(file)
    return file


def parsed(plain: Mapping[str, Any], where: str) -> Project:
    """Check the content of a project file.

    Args:
        plain: what TOML holds.
        where: name of the file, for messages.

    Raises:
        ConfigError: it has an unknown key or a wrong value; the first one is named.
    """
    try:
        return Project.model_validate(plain)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = [str(part) for part in first["loc"]]
        if first["type"] == "extra_forbidden":
            known = list(_keys(Project, place[:-1]))
            hint = did_you_mean(place[-1], known) or f" Known are {', '.join(known)}."
            raise ConfigError(f"{where} has an unknown key {'.'.join(place)}.{hint}") from wrong
        key = ".".join(_of_file(place, plain))
        rule = f"Write it as a table, [{key}]" if first["type"] == "model_type" else first["msg"]
        raise ConfigError(f"{where} sets {key} to {first['input']!r}. {rule}.") from wrong


def _check_ranges(file: ProjectFile) -> None:
    """Let `RunOptions` judge the values, so that an error names the file and no flag that nobody gave.

    Raises:
        ConfigError: one of them is out of its range.
    """
    given = file.options()
    if ("worker_type" in given) != ("number_of_workers" in given):  # a flag may give the other one
        given.pop("worker_type", None), given.pop("number_of_workers", None)
    pairs = {name: [f"{key}={text_of(value)}" for key, value in given[name].items()] for name in PAIRS if name in given}
    try:
        RunOptions(**{**given, **pairs})
    except ConfigError as wrong:
        raise ConfigError(f"{file.path.name}: {str(wrong).removeprefix('--')}") from wrong


def _of_file(place: Sequence[str], plain: Any) -> Iterator[str]:
    """Yield those parts of a place that are keys of the file; others name a member of a union."""
    for part in place:
        if isinstance(plain, Mapping) and part in plain:
            yield part
            plain = plain[part]


def _keys(model: type[BaseModel], place: Sequence[str]) -> Iterator[str]:
    """Yield the keys of the table at a place."""
    if not place:
        yield from (one.alias or name for name, one in model.model_fields.items())
        return
    for name, one in model.model_fields.items():
        if (one.alias or name) == place[0]:
            inner = next(
                t for t in (one.annotation, *get_args(one.annotation)) if isinstance(t, type) and t is not type(None)
            )
            yield from _keys(inner, place[1:])


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_URL,
        **Project.model_json_schema(by_alias=True),
    }
