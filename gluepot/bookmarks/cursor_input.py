"""Bookmarks for a script's own sources: a function that continues to read from a cursor.

The cursor is whatever marks a position in the source: a token of a REST API, the name of the last file, a number. The
function gets the cursor of the last committed run, and returns the records after it and the next cursor. The commit of
this run saves the next cursor; a run that does not commit leaves the cursor unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.bookmarks.jobrun import JobRun
from gluepot.bookmarks.ledger import Change
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.core.logging import get_logger
from gluepot.engine.pipeline import SplitInput
from gluepot.frames.chunk import Chunk
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_text import json_bytes

KIND = "cursor"
_VERSION = 1
_RECORDS_PER_SPLIT = 50_000

# Any value that JSON can represent; None before the first run.
Cursor = Any

ReadOn = Callable[[Cursor], tuple[Iterable[Mapping[str, Any]], Cursor]]

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RecordsSplit:
    """Records on their way to a task, each as JSON."""

    values: tuple[bytes, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of JSON."""
        return sum(map(len, self.values))


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """Reads the records that a script's function has returned.

    Args:
        name: name of the source, for error records.
    """

    name: str

    @property
    def guarantee(self) -> str:
        """The delivery guarantee."""
        return "What the function returned for the cursor of the last committed run, once for each run that commits."

    def read(self, split: RecordsSplit) -> Iterator[Chunk]:
        """Yield the records of a split."""
        yield JsonDecoder().decode(split.values, range(len(split.values)), self.name, "")


def cursor_input(read_on: ReadOn, ctx: str, run: JobRun | None) -> SplitInput:
    """Return the records beyond the last committed run's cursor; the run's commit saves the next one.

    Args:
        read_on: a function that this calls once, with the cursor (None in the first run). It returns records and the
            next cursor. Records are kept in memory as JSON.
        ctx: `transformation_ctx`; without one, or without bookmarks, the function is always called with None.
        run: the job's run; None outside of a run.

    Raises:
        ConfigError: a range of runs is requested, or JSON cannot represent the next cursor.
        CheckpointError: the bookmark belongs to another kind of source.
    """
    marks = run.bookmarks if run else None
    if marks is None or not ctx:
        if marks:
            log.warning("source_not_bookmarked", hint="give it a transformation_ctx")
        return SplitInput(RecordsSource(ctx), _splits(read_on(None)[0]))
    if marks.between:
        raise ConfigError(
            f"The source of ctx {ctx!r} knows where to continue but not where to end, so it cannot read the input of a"
            " range of runs again; leave out --job-bookmark-from and --job-bookmark-to."
        )
    name = marks.next_read(ctx)
    before = cursor_of(marks.bodies(name))
    records, after = read_on(before)
    splits = _splits(records)
    marks.planned(name, _digest(splits), None if after == before else Change(_body(after, ctx), extends=False))
    log.info("cursor_planned", ctx=ctx, after=before, upto=after, records=sum(len(one.values) for one in splits))
    return SplitInput(RecordsSource(ctx), splits)


def cursor_of(bodies: Sequence[str]) -> Cursor:
    """Return the cursor in the last of a bookmark's bodies; None if nothing was read yet.

    Raises:
        CheckpointError: the bookmark cannot be read, or belongs to another kind of source.
    """
    if not bodies:
        return None
    try:
        plain = json.loads(bodies[-1])
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict) or ("cursor" not in plain and plain.get("kind") == KIND):
        raise CheckpointError(f"a bookmark beginning with {bodies[-1][:40]!r} cannot be read; reset it")
    if plain.get("kind") != KIND or plain.get("version") != _VERSION:
        raise CheckpointError(
            f"a bookmark has kind {plain.get('kind')}, version {plain.get('version')}, but this source needs {KIND},"
            f" version {_VERSION}: reset it, or give the source a transformation_ctx of its own",
        )
    return plain["cursor"]


def _body(cursor: Cursor, ctx: str) -> str:
    try:
        text = json.dumps({"kind": KIND, "version": _VERSION, "cursor": cursor}, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"The next cursor of ctx {ctx!r} is a {type(cursor).__name__} that JSON cannot hold ({error});"
            " return a text, a number, or a list or dict of these."
        ) from error
    return text


def _splits(records: Iterable[Mapping[str, Any]]) -> tuple[RecordsSplit, ...]:
    values = [json_bytes(record) for record in records]
    cuts = range(0, len(values), _RECORDS_PER_SPLIT)
    return tuple(RecordsSplit(tuple(values[at : at + _RECORDS_PER_SPLIT])) for at in cuts)


def _digest(splits: Iterable[RecordsSplit]) -> str:
    digest = hashlib.sha256()
    for split in splits:
        for value in split.values:
            digest.update(len(value).to_bytes(8) + value)
    return digest.hexdigest()
