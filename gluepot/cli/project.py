"""Gives `gluepot run` what the project file says, where neither a flag nor the environment says it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App, ArgumentCollection, Token
from cyclopts.argument import Argument

from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.job.options import PROJECT_FILE, PROJECT_VARIABLE

if TYPE_CHECKING:
    from gluepot.job.project import ProjectFile


def current_project() -> ProjectFile | None:
    """Return the project file of this folder, or that which the environment names; None if there is none.

    Raises:
        ConfigError: the file cannot be read.
    """
    path = find_project(os.environ)
    if path is None:
        return None
    from gluepot.catalog.connections.file import tightening  # noqa: PLC0415  most commands have no project
    from gluepot.job.project import read_project  # noqa: PLC0415  as above

    status = path.stat()
    if remedy := tightening(status.st_mode, status.st_uid, os.geteuid()):
        get_logger(__name__).warning("project_file_writable_by_others", file=str(path), hint=remedy)
    return read_project(path)


def find_project(environ: Mapping[str, str]) -> Path | None:
    """Return the project file: that which the environment names, or the one in this folder; None if there is none.

    Raises:
        ConfigError: the environment names a file that is not there.
    """
    named = environ.get(PROJECT_VARIABLE)
    if named is None:
        return Path(PROJECT_FILE) if Path(PROJECT_FILE).is_file() else None
    if not named:
        return None
    path = Path(named) / PROJECT_FILE if Path(named).is_dir() else Path(named)
    if path.is_file():
        return path
    raise ConfigError(f"There is no project file {path}; correct {PROJECT_VARIABLE}, or write one with `gluepot init`.")


class ProjectConfig:
    """The source of values that cyclopts asks after the command line and the environment.

    `arguments` is what it saw last: each argument has its tokens, and each token its source.
    """

    def __init__(self) -> None:
        self.arguments: Sequence[Argument] = ()
        self._file = ""

    def set_by_file(self) -> dict[str, str]:
        """Return the names of those options that the project file set, and the file."""
        return {
            argument.field_info.name: self._file
            for argument in self.arguments
            if argument.tokens and argument.tokens[0].source == self._file
        }

    def __call__(self, _app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
        """Add tokens to the arguments of `run`."""
        self.arguments, self._file = (), ""
        if commands != ("run",):
            return
        self.arguments = list(arguments)
        project = current_project()
        if project is None:
            return
        self._file = str(project.path)
        from gluepot.job.project import PAIRS  # noqa: PLC0415  as above

        source = str(project.path)
        by_name = {argument.field_info.name: argument for argument in arguments}
        script, words = by_name["script"], by_name["arguments"]
        own_script = project.script
        if own_script is not None:
            if script.tokens and script.tokens[0].value.startswith("-"):
                # What follows `--` is positional. As the file names the script, all of it belongs to the script.
                words.tokens[:] = _numbered([*script.tokens, *words.tokens])
                script.tokens.clear()
            if not script.tokens:
                script.append(Token(keyword="script", value=own_script, source=source))
        if (
            not script.tokens
            or own_script is None
            or Path(script.tokens[0].value).resolve() == Path(own_script).resolve()
        ):
            words.tokens[:] = _numbered([*_arguments(project.arguments, words.tokens, source), *words.tokens])
        for name, value in project.options().items():
            argument = by_name[name]
            if name in PAIRS:
                given = {token.value.partition("=")[0] for token in argument.tokens}
                pairs = [f"{key}={_text(one)}" for key, one in value.items() if key not in given]
                added = [Token(keyword=PAIRS[name], value=pair, source=source) for pair in pairs]
                argument.tokens[:] = _numbered([*added, *argument.tokens])
            elif not argument.tokens:
                values = value if isinstance(value, list | tuple) else [value]
                tokens = [Token(keyword=name, value=_text(one), source=source) for one in values]
                argument.tokens[:] = _numbered(tokens)


def _arguments(own: Mapping[str, str], given: Iterable[Token], source: str) -> list[Token]:
    """Return the arguments of the file that the command line does not give."""
    from gluepot.ops.configuration import arguments_by_name  # noqa: PLC0415  only a project needs it

    names = arguments_by_name([token.value for token in given])
    return [
        Token(keyword=name, value=word, source=source)
        for name, value in own.items()
        if name not in names
        for word in (f"--{name}", value)
    ]


def _numbered(tokens: Iterable[Token]) -> list[Token]:
    return [token.evolve(index=index) for index, token in enumerate(tokens)]


def _text(value: Any) -> str:
    from gluepot.job.project import text_of  # noqa: PLC0415  as above

    return text_of(value)
