"""Checks scripts without running them: which of their calls into Glue work here, and what often goes wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from gluepot.check.calls import read_script
from gluepot.check.finding import Level, Report
from gluepot.check.rules import warnings_of
from gluepot.check.verdict import verdict_on
from gluepot.core.errors import ConfigError

__all__ = ["Level", "Report", "check_script", "check_scripts"]


def check_scripts(scripts: Iterable[Path]) -> list[Report]:
    """Return a report on each script.

    Raises:
        ConfigError: a file cannot be read, or is not Python.
    """
    return [check_script(str(script), _source(script), _beside(script)) for script in scripts]


def check_script(name: str, source: str, beside: Collection[str] = ()) -> Report:
    """Return the findings about a script, in the order of its lines.

    Args:
        name: name of the script, for messages.
        source: text of the script.
        beside: the names of modules that lie beside the script.

    Raises:
        ConfigError: the text is not Python.
    """
    try:
        script = read_script(source)
    except SyntaxError as wrong:
        raise ConfigError(f"{name} is not a Python script: line {wrong.lineno}: {wrong.msg}.") from wrong
    findings = [*map(verdict_on, script.calls), *warnings_of(script, beside)]
    return Report(name, tuple(sorted(findings, key=lambda one: (one.line, one.level is Level.WARNING))))


def _beside(script: Path) -> Collection[str]:
    folder = script.absolute().parent
    return {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}


def _source(script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8")
    except OSError as wrong:
        raise ConfigError(f"{script} cannot be read: {wrong.strerror}; give the path of a Python file.") from wrong
    except UnicodeDecodeError as wrong:
        raise ConfigError(f"{script} cannot be read as UTF-8: {wrong}; give the path of a Python file.") from wrong
