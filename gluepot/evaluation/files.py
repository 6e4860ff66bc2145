"""Finds the files that rules about files judge: below a path, or those that a frame was read from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import partial

from gluepot.connectors.files.source.versions import FileVersion
from gluepot.core.errors import EtlError
from gluepot.core.storage import Entry, SourceStorage, VersionGone, open_source
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.quality.checks import Setting
from gluepot.quality.dqdl.ruleset import Rule
from gluepot.quality.files import CheckedFile, chosen, file_metrics
from gluepot.quality.numbers import RuleError

_BLOCK_BYTES = 1 << 20


def values(rule: Rule, setting: Setting, pipeline: Pipeline) -> Mapping[str, float]:
    """Return the metrics of a rule about files.

    Args:
        rule: the rule.
        setting: the time of the evaluation.
        pipeline: gives the frame's rows; its files are judged if the rule names no path.

    Raises:
        RuleError: the files cannot be found or read.
    """
    try:
        paths = rule.parameters
        files = chosen(rule, below(paths[0]) if paths else _files_of(pipeline))
        others = chosen(rule, below(paths[1])) if len(paths) > 1 else None
        needs_test = rule.type_name in {"FileFreshness", "FileSize"}
        return file_metrics(rule, files, others, setting.test(rule) if needs_test else None)
    except (EtlError, VersionGone) as error:
        raise RuleError(str(error)) from None


def below(path: str) -> list[CheckedFile]:
    """Return all files below a path, or the one file that it names.

    Raises:
        ConfigError, TransientError: the path cannot be read.
    """
    if not os.path.isfile(path):  # noqa: PTH113  it may be a URL
        storage = open_source(path)
        found = [_checked(storage, one) for one in storage.tree("")]
        if found:
            return found
    folder, _, name = path.rstrip("/").rpartition("/")
    parent = open_source(folder or "/")
    entry = parent.entry(name)
    return [] if entry is None else [_checked(parent, entry)]


def _files_of(pipeline: Pipeline) -> Sequence[CheckedFile]:
    given = pipeline.input
    versions: list[FileVersion] = []
    if isinstance(given, SplitInput):
        for split in given.splits:
            versions += getattr(split, "files", ())
    if not versions:
        raise RuleError("Unable to parse file path from DataFrame")
    roots = {one.root: open_source(one.root) for one in versions}
    return [
        _checked(roots[one.root], Entry(one.inside, one.name, one.size_bytes, one.mtime_us, one.etag))
        for one in dict.fromkeys(versions)
    ]


def _checked(storage: SourceStorage, entry: Entry) -> CheckedFile:
    url = f"{storage.url.rstrip('/')}/{entry.key}"
    return CheckedFile(url, entry.name, entry.size_bytes, entry.mtime_us, partial(_digest, storage, entry))


def _digest(storage: SourceStorage, entry: Entry, algorithm: str) -> str:
    found = hashlib.new(algorithm, usedforsecurity=False)
    with storage.open(entry) as file:
        while block := file.read(_BLOCK_BYTES):
            found.update(block)
    return found.hexdigest()
