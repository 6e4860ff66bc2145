"""JSON: a document per line, or documents of any shape with a path to the records in them (glue-api 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from connectors.files.formats.options import flag
from connectors.files.formats.port import OpenFile
from connectors.files.formats.schemas import with_schema
from connectors.files.formats.text_lines import BOM, line_blocks, lines_of
from dynamicframe.chunk import Chunk
from dynamicframe.declared import DeclaredJson, RecordDecoder
from dynamicframe.json_decoder import JsonDecoder
from etlcore.errors import ConfigError, PermanentError

MOST_DOCUMENT_BYTES = 512 << 20
_RECORDS = 10_000
_PATH_STEP = re.compile(r"\.?\[\*\]|\.?\['([^']+)'\]|\.([^.\[\]]+)")
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Settings of the reader.

    Args:
        multi_line: documents may spread over lines; a file is then held in memory.
        path: steps from the document to the records: a key, or None for every element of an array.
        declared: columns that the script gives; None where the records tell.
    """

    multi_line: bool = False
    path: tuple[str | None, ...] = ()
    declared: DeclaredJson | None = None

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> JsonFormat:
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

    def __init__(self, settings: JsonFormat) -> None:
        self._settings = settings
        self._decoder: RecordDecoder = JsonDecoder() if settings.declared is None else settings.declared.decoder()

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        for values, positions in self._records(file):
            yield self._decoder.decode(*_unfolded(values, positions), file.place, file.partition)

    def _records(self, file: OpenFile) -> Iterator[tuple[list[bytes], list[int]]]:
        if self._settings.multi_line or self._settings.path:
            return _whole(file, self._settings.path)
        plain, at = (file.plain, 0) if file.piece is None else lines_of(file.plain, file.piece)
        return line_blocks(plain, file.place, at)


def _unfolded(values: Sequence[bytes], positions: Sequence[int]) -> tuple[Sequence[bytes], Sequence[int]]:
    """Replace lines that are arrays of records, as exports often write one, by their elements."""
    if not any(value.lstrip(_SPACE).startswith(b"[") for value in values):
        return values, positions
    unfolded: list[tuple[bytes, int]] = []
    for value, position in zip(values, positions, strict=True):
        elements = _elements(value) if value.lstrip(_SPACE).startswith(b"[") else [value]
        unfolded += [(element, position) for element in elements]
    return [value for value, _ in unfolded], [position for _, position in unfolded]


def _elements(value: bytes) -> list[bytes]:
    try:
        return [orjson.dumps(element) for element in orjson.loads(value)]
    except orjson.JSONDecodeError:
        return [value]


def _whole(file: OpenFile, path: Sequence[str | None]) -> Iterator[tuple[list[bytes], list[int]]]:
    text = file.plain.read(MOST_DOCUMENT_BYTES + 1)
    if len(text) > MOST_DOCUMENT_BYTES:
        raise PermanentError(
            f"{file.place} has more than {MOST_DOCUMENT_BYTES >> 20} MiB of JSON over several lines; write one document"
            " per line, or split it"
        )
    text = text.removeprefix(BOM)
    records: list[bytes] = []
    positions: list[int] = []
    for start, document in _documents(text):
        if isinstance(document, bytes):
            records.append(document)
            positions.append(start)
            continue
        for record in _at(document, path or (None,) if isinstance(document, list) else path):
            records.append(orjson.dumps(record))
            positions.append(start)
    for first in range(0, len(records), _RECORDS):
        yield records[first : first + _RECORDS], positions[first : first + _RECORDS]


def _documents(text: bytes) -> Iterator[tuple[int, Any]]:
    """Yield each document with the byte it begins at; what is no JSON is yielded as bytes, up to the next document."""
    with suppress(orjson.JSONDecodeError):
        yield 0, orjson.loads(text)
        return
    start = 0
    for end in _ends(text):
        piece = text[start:end]
        if piece.strip(_SPACE):
            try:
                yield start, orjson.loads(piece)
            except orjson.JSONDecodeError:
                yield start, piece.strip(_SPACE)
        start = end
    if text[start:].strip(_SPACE):
        yield start, text[start:].strip(_SPACE)


_MARK = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)


def _ends(text: bytes) -> Iterator[int]:
    """Yield the position after each object or array that no other one encloses."""
    depth = 0
    for mark in _MARK.finditer(text):
        match mark[0]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
                if depth <= 0:
                    depth = 0
                    yield mark.end()


def _path(text: str) -> tuple[str | None, ...]:
    if not text:
        return ()
    at, steps = 1, []
    while text.startswith("$") and at < len(text) and (step := _PATH_STEP.match(text, at)):
        steps.append(step[1] or step[2])
        at = step.end()
    if not text.startswith("$") or at < len(text):
        raise ConfigError(f"jsonPath is {text!r}; use keys and [*] from the root, such as $.records[*]")
    return tuple(steps)


def _at(document: Any, path: Sequence[str | None]) -> list[Any]:
    """Return the values at the end of a path; where a step leads nowhere there are none."""
    found = [document]
    for step in path:
        if step is None:
            found = [element for value in found if isinstance(value, list) for element in value]
        else:
            found = [value[step] for value in found if isinstance(value, dict) and step in value]
    return found
