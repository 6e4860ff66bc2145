"""JSON: a document per line, or documents of any shape with a path to the records in them (docs/glue 5.2)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import VALUE_BYTES, gathered, too_large
from gluepot.connectors.files.formats.schemas import with_schema
from gluepot.connectors.files.formats.text_lines import BOM, lines, lines_of, text_blocks
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.option_values import flag
from gluepot.frames.chunk import Chunk
from gluepot.frames.declared import DeclaredJson, RecordDecoder
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_footprint import cut, ends, excess
from gluepot.frames.json_kernel import object_lines
from gluepot.frames.json_record import LONG_BYTES, dumps, loads, oversize
from gluepot.frames.payloads import Lines
from gluepot.frames.refusal import Refusal, refused

MOST_DOCUMENT_BYTES = 512 << 20
# Of a file that was compressed, and so may be small where the document is large.
MOST_UNPACKED_BYTES = 64 << 20
_MOST_MEMORY_BYTES = 256 << 20
_RECORDS = 10_000
_PATH_STEP = re.compile(r"\.?\[(?:\*|(\d{1,9}))\]|\.?\['([^']+)'\]|\.([^.\[\]]+)")
_SPACE = b" \t\r\n"

Step = str | int | None


@dataclass(frozen=True, slots=True)
class JsonInputFormat:
    """Settings of the reader.

    Args:
        multi_line: documents may spread over lines; a file is then held in memory.
        path: steps from the document to the records: a key, the index of an element, or None for every element.
        declared: columns that the script gives; None where the records tell.
    """

    multi_line: bool = False
    path: tuple[Step, ...] = ()
    declared: DeclaredJson | None = None

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> JsonInputFormat:
        """Read Glue's `format_options`.

        Raises:
            ConfigError: an option has a value that is not understood.
        """
        multi_line = flag(options, "multiLine") or flag(options, "multiline")
        schema = with_schema(options)
        declared = None if schema is None else DeclaredJson.of(schema)
        return cls(multi_line, _path(str(options.get("jsonPath") or "")), declared)

    @property
    def needs_seek(self) -> bool:
        """Read from start to end."""
        return False

    @property
    def splits(self) -> bool:
        """Lines are records, documents are not."""
        return not (self.multi_line or self.path)

    def reader(self) -> JsonReader:
        """Return a reader for one task."""
        return JsonReader(self)


class JsonReader:
    """Keeps the schema from file to file."""

    def __init__(self, settings: JsonInputFormat) -> None:
        self._settings = settings
        self._decoder: RecordDecoder = JsonDecoder() if settings.declared is None else settings.declared.decoder()

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        for found, positions in self._records(file):
            values, at, refusals = _without_oversize(found, positions)
            chunk = self._decoder.decode(values, at, file.place, file.partition)
            oversize = [refused(verdict, found[n], file.place, file.partition, positions[n]) for n, verdict in refusals]
            yield Chunk(chunk.batch, [*chunk.errors, *oversize])

    def _records(self, file: OpenFile) -> Iterator[tuple[Sequence[bytes], list[int]]]:
        if self._settings.multi_line or self._settings.path:
            yield from _whole(file, self._settings.path)
            return
        plain, at = (file.plain, 0) if file.piece is None else lines_of(file.plain, file.piece)
        for text, start in text_blocks(plain, file.place, at):
            records = object_lines(text, LONG_BYTES)
            if records:  # which need no look at each of them; that takes longer than to read most
                yield records, (np.array(records.ends[:-1]) + start).tolist()
            elif some := lines(text, start):
                yield from _unfolded(*some)


def _without_oversize(
    values: Sequence[bytes], positions: list[int]
) -> tuple[Sequence[bytes], list[int], list[tuple[int, Refusal]]]:
    """Return records and their positions without those that take too much memory, and these by their index."""
    if isinstance(values, Lines) or max(map(len, values), default=0) <= LONG_BYTES:
        return values, positions, []
    verdicts = [oversize(value) if len(value) > LONG_BYTES else None for value in values]
    refusals = [(index, verdict) for index, verdict in enumerate(verdicts) if verdict is not None]
    kept = [index for index, verdict in enumerate(verdicts) if verdict is None]
    return [values[index] for index in kept], [positions[index] for index in kept], refusals


def _unfolded(values: list[bytes], positions: list[int]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Replace lines that are arrays of records, as exports often write one, by their elements."""
    if any(value.lstrip(_SPACE).startswith(b"[") for value in values):
        yield from _gathered(_elements(values, positions))
    else:
        yield values, positions


def _elements(values: Sequence[bytes], positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for value, position in zip(values, positions, strict=True):
        if not value.lstrip(_SPACE).startswith(b"["):
            yield position, value
        elif len(value) > LONG_BYTES:
            yield from ((position, element) for _, element in cut(value))
        else:
            try:
                yield from [(position, dumps(element)) for element in loads(value)]
            except orjson.JSONDecodeError:
                yield position, value


def _gathered(records: Iterable[tuple[int, bytes]]) -> Iterator[tuple[list[bytes], list[int]]]:
    for some in gathered((((at, value), len(value) + VALUE_BYTES) for at, value in records), _RECORDS):
        yield [value for _, value in some], [at for at, _ in some]


def _whole(file: OpenFile, path: Sequence[Step]) -> Iterator[tuple[list[bytes], list[int]]]:
    most_bytes = MOST_UNPACKED_BYTES if file.is_unpacked else MOST_DOCUMENT_BYTES
    text = file.plain.read(most_bytes + 1)
    if len(text) > most_bytes:
        raise PermanentError(
            f"{file.place} has more than {most_bytes >> 20} MiB of JSON over several lines; write one document"
            " per line, or split it"
        )
    text = text.removeprefix(BOM)
    # An ordinary document takes some three times its length.
    most_memory_bytes = _MOST_MEMORY_BYTES if file.is_unpacked else max(_MOST_MEMORY_BYTES, 8 * len(text))
    refusal = excess(text, most_memory_bytes, sys.maxsize, sys.maxsize)
    if refusal is None:
        return _gathered(_records_at(text, path))
    if path:
        raise too_large(file.place, f"documents that take more than {most_memory_bytes >> 20} MiB")
    return _gathered(cut(text))


def _records_at(text: bytes, path: Sequence[Step]) -> Iterator[tuple[int, bytes]]:
    for start, document in _documents(text):
        if isinstance(document, bytes):
            yield start, document
            continue
        for record in _at(document, path or (None,) if isinstance(document, list) else path):
            yield start, dumps(record)


def _documents(text: bytes) -> Iterator[tuple[int, Any]]:
    """Yield each document with the byte it begins at; what is no JSON is yielded as bytes, up to the next document."""
    with suppress(orjson.JSONDecodeError):
        yield 0, loads(text)
        return
    start = 0
    for end in ends(text):
        piece = text[start:end]
        if piece.strip(_SPACE):
            try:
                yield start, loads(piece)
            except orjson.JSONDecodeError:
                yield start, piece.strip(_SPACE)
        start = end
    if text[start:].strip(_SPACE):
        yield start, text[start:].strip(_SPACE)


def _path(text: str) -> tuple[Step, ...]:
    if not text:
        return ()
    steps: list[Step] = []
    at = 1
    while text.startswith("$") and at < len(text) and (step := _PATH_STEP.match(text, at)):
        steps.append(int(step[1]) if step[1] else step[2] or step[3])
        at = step.end()
    if not text.startswith("$") or at < len(text):
        raise ConfigError(f"jsonPath is {text!r}; use keys, [0] and [*] from the root, such as $.records[*]")
    return tuple(steps)


def _at(document: Any, path: Sequence[Step]) -> list[Any]:
    """Return the values at the end of a path; where a step leads nowhere there are none."""
    found = [document]
    for step in path:
        if step is None:
            found = [element for value in found if isinstance(value, list) for element in value]
        elif isinstance(step, int):
            found = [value[step] for value in found if isinstance(value, list) and step < len(value)]
        else:
            found = [value[step] for value in found if isinstance(value, dict) and step in value]
    return found
