"""Checks scripts without running them: which of their calls into Glue work here, and what often goes wrong."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gluepot.check.calls import imported_modules, read_script
from gluepot.check.finding import Finding, Level, Outcome, Report
from gluepot.check.jobs import Job, about_job, jobs_of, modules_of
from gluepot.check.rules import warnings_of
from gluepot.check.verdict import verdict_on
from gluepot.core.errors import ConfigError

__all__ = ["Level", "Outcome", "Report", "check_paths", "check_script"]

_NOT_OURS = frozenset({"__pycache__", "node_modules", "site-packages"})


def check_paths(paths: Iterable[Path]) -> list[Report]:
    """Return a report on each script, and on each job of a dump.

    Args:
        paths: scripts; folders, whose scripts are checked but for the modules that they import from each other; and
            files of JSON that `aws glue get-jobs` printed. The script of a job is looked for by its name in the folders
            that are given, and in that of the dump.

    Raises:
        ConfigError: a path holds nothing to check, or a single script cannot be read or is not Python.
    """
    found: list[Report] = []
    jobs: list[tuple[Path, Job]] = []
    folders: list[Path] = []
    for path in paths:
        if path.is_dir():
            folders.append(path)
        elif path.suffix == ".json":
            jobs += [(path, job) for job in jobs_of(_dump(path), str(path))]
        else:
            found.append(check_script(str(path), _source(path), _beside(path)))
    below = {folder: _scripts_below(folder) for folder in folders}
    there = _by_name([*folders, *(path.parent for path, _ in jobs)]) if jobs else {}
    found += [_of_job(job, there.get(job.script_name)) for _, job in jobs]
    taken = {there[job.script_name] for _, job in jobs if job.script_name in there}
    for folder, scripts in below.items():
        if not scripts:
            raise ConfigError(f"There is no Python script in {folder}; give a folder of job scripts.")
        found += [_of_file(script) for script in scripts if script.resolve() not in taken]
    return found


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


def _of_job(job: Job, script: Path | None) -> Report:
    about = tuple(about_job(job, script_is_there=script is not None))
    if script is None:
        return Report(job.script or job.name, about, job.name)
    report = _of_file(script, modules_of(job))
    return replace(report, findings=(*about, *report.findings), job=job.name)


def _of_file(script: Path, brought: Collection[str] = ()) -> Report:
    """Return the report on one of many scripts; one that cannot be read does not keep the others from being checked."""
    try:
        return check_script(str(script), _source(script), {*_beside(script), *brought})
    except ConfigError as wrong:
        return Report(str(script), (Finding(1, Level.NOT_SUPPORTED, "no-python", str(wrong)),))


def _scripts_below(folder: Path) -> Sequence[Path]:
    """Return the Python files of a folder, without hidden ones and without modules that others of them import."""
    files = sorted(path for path in folder.rglob("*.py") if not _is_hidden(path.relative_to(folder)))
    imported = {module for path in files for module in _imports_of(path)}
    return [path for path in files if path.name != "__init__.py" and not imported & _module_names(path, folder)]


def _module_names(path: Path, folder: Path) -> set[str]:
    """Return the names by which a file can be imported: from its own folder and from those above it."""
    parts = path.relative_to(folder).with_suffix("").parts
    return {".".join(parts[at:]) for at in range(len(parts))}


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part in _NOT_OURS for part in path.parts)


def _imports_of(path: Path) -> Collection[str]:
    try:
        return imported_modules(_source(path))
    except (ConfigError, SyntaxError):
        return ()


def _by_name(folders: Iterable[Path]) -> Mapping[str, Path]:
    """Return the Python files of folders by their names; of two of one name, the one in the first folder."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            found.setdefault(path.name, path.resolve())
    return found


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


def _dump(path: Path) -> Any:
    try:
        return json.loads(_source(path))
    except ValueError as wrong:
        raise ConfigError(f"{path} is not JSON: {wrong}; give what `aws glue get-jobs` printed.") from wrong
