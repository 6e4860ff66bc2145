"""JSON: records on lines or of any other shape, or documents with a path to the records in them (docs/glue 5.2).

A file whose records are lines is read in pieces, block by block. The first bytes of a file tell whether it is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
import orjson

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import MOST_RECORD_BYTES, VALUE_BYTES, gathered, too_large
from gluepot.connectors.files.formats.json.cutter import Cutter, cut
from gluepot.connectors.files.formats.json.framing import HEAD_BYTES, begins_array, spreads_over_lines
from gluepot.connectors.files.formats.schemas import with_schema
from gluepot.connectors.files.formats.text_lines import BLOCK_BYTES, BOM, behind, lines, lines_of, text_blocks
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.option_values import flag
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.declared import DeclaredJson, RecordDecoder
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_footprint import ends, excess
from gluepot.frames.json_kernel import object_lines
from gluepot.frames.json_record import LONG_BYTES, dumps, loads, oversize
from gluepot.frames.payloads import Lines
from gluepot.frames.refusal import Refusal, refused

log = get_logger(__name__)

MOST_DOCUMENT_BYTES = 512 << 20
# Of a file that was compressed, and so may be small where the document is large.
MOST_UNPACKED_BYTES = 64 << 20
_MOST_MEMORY_BYTES = 256 << 20
_RECORDS = 10_000
_PATH_STEP = re.compile(r"\.?\[(?:\*|(\d{1,9}))\]|\.?\['([^']+)'\]|\.([^.\[\]]+)")
_SPACE = b" \t\r\n"
_NEXT_OBJECT = re.compile(rb"\}[ \t\r]*\{")
# Reasons for which a line of several objects is refused.
_MAY_BE_SEVERAL = {"malformed_json", "invalid_utf8"}

Step = str | int | None


@dataclass(frozen=True, slots=True)
class JsonInputFormat:
    """Settings of the reader.

    Args:
        multi_line: records may spread over lines, whatever the first bytes of a file tell.
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
    def finds_records_by(self) -> str:
        """The option that finds the records in a file."""
        return "jsonPath" if self.path else ""

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
            chunk = self._chunk(file, found, positions)
            if any(error.reason in _MAY_BE_SEVERAL for error in chunk.errors):
                several = _several(found, positions, chunk.errors)
                chunk = self._chunk(file, *several) if several else chunk
            yield chunk

    def _chunk(self, file: OpenFile, found: Sequence[bytes], positions: list[int]) -> Chunk:
        values, at, refusals = _without_oversize(found, positions)
        chunk = self._decoder.decode(values, at, file.place, file.partition)
        oversize = [refused(verdict, found[n], file.place, file.partition, positions[n]) for n, verdict in refusals]
        return replace(chunk, errors=[*chunk.errors, *oversize])

    def _records(self, file: OpenFile) -> Iterator[tuple[Sequence[bytes], list[int]]]:
        if self._settings.path:
            yield from _at_path(file, self._settings.path)
            return
        plain, head, is_whole = _with_head(file)
        if self._settings.multi_line or spreads_over_lines(head, is_whole=is_whole):
            if file.piece is None or file.piece[0] == 0:  # the task that reads the beginning reads it all
                yield from _gathered(_documents(plain, file))
            return
        plain, at = (plain, 0) if file.piece is None else lines_of(file.plain, file.piece)
        for text, start in text_blocks(plain, file.place, at):
            records = object_lines(text, LONG_BYTES)
            if records:  # which need no look at each of them; that takes longer than to read most
                yield records, (np.array(records.ends[:-1]) + start).tolist()
            elif some := lines(text, start):
                yield from _unfolded(*some)


def _with_head(file: OpenFile) -> tuple[BinaryIO, bytes, bool]:
    """Return the whole file, its first `HEAD_BYTES`, and whether it has no more."""
    if file.piece is not None:
        file.plain.seek(0)
    wanted = BLOCK_BYTES if file.piece is None or file.piece[0] == 0 else HEAD_BYTES + 1
    head = b""
    while len(head) <= HEAD_BYTES and (block := file.plain.read(wanted - len(head))):
        head += block
    return behind(head, file.plain), head[:HEAD_BYTES], len(head) <= HEAD_BYTES


def _documents(plain: BinaryIO, file: OpenFile) -> Iterator[tuple[int, bytes]]:
    """Yield records that may spread over lines, each with the byte it begins at."""
    most_bytes = MOST_UNPACKED_BYTES if file.is_unpacked else MOST_RECORD_BYTES
    block = plain.read(BLOCK_BYTES)
    start = len(BOM) if block.startswith(BOM) else 0
    cutter, block = Cutter(start), block[start:]
    while block:
        yield from cutter.feed(block)
        if cutter.held_bytes > most_bytes:
            raise PermanentError(
                f"{file.place} has a record of more than {most_bytes >> 20} MiB of JSON at byte {cutter.at};"
                " write smaller records, or skip it with exclusions"
            )
        block = plain.read(BLOCK_BYTES)
    yield from cutter.end()
    if cutter.is_array_open:
        configure_once()
        hint = "the file may have been cut off; its records up to there are read"
        log.warning("array_not_closed", file=file.place, hint=hint)


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


def _several(
    values: Sequence[bytes], positions: list[int], errors: Sequence[ErrorRecord]
) -> tuple[list[bytes], list[int]] | None:
    """Return the records with lines that hold several objects replaced by these; None if there is no such line.

    Args:
        values: all records.
        positions: where each begins.
        errors: of those that are not one object.
    """
    places = {error.at.position for error in errors if error.reason in _MAY_BE_SEVERAL}
    records: list[tuple[int, bytes]] = []
    for value, position in zip(values, positions, strict=True):
        parts = cut(value, position) if str(position) in places else []
        is_several = len(parts) > 1 and all(part.startswith(b"{") for _, part in parts)
        records += parts if is_several else [(position, value)]
    if len(records) == len(positions):
        return None
    return [value for _, value in records], [position for position, _ in records]


def _unfolded(values: list[bytes], positions: list[int]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Replace lines that are arrays of records, as exports often write one, by their elements."""
    if any(len(value) > LONG_BYTES or value.lstrip(_SPACE).startswith(b"[") for value in values):
        yield from _gathered(_elements(values, positions))
    else:
        yield values, positions


def _elements(values: Sequence[bytes], positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for value, position in zip(values, positions, strict=True):
        text = value.lstrip(_SPACE)
        # A copy of a long record takes memory; one is made only where another record may follow.
        if begins_array(text) or (len(text) > LONG_BYTES and text.startswith(b"{") and _NEXT_OBJECT.search(text)):
            parts = cut(value, position)
            yield from [(position, value)] if len(parts) == 1 and text.startswith(b"{") else parts
        else:
            yield position, value


def _gathered(records: Iterable[tuple[int, bytes]]) -> Iterator[tuple[list[bytes], list[int]]]:
    for some in gathered((((at, value), len(value) + VALUE_BYTES) for at, value in records), _RECORDS):
        yield [value for _, value in some], [at for at, _ in some]


def _at_path(file: OpenFile, path: Sequence[Step]) -> Iterator[tuple[list[bytes], list[int]]]:
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
    if excess(text, most_memory_bytes, sys.maxsize, sys.maxsize) is not None:
        raise too_large(file.place, f"documents that take more than {most_memory_bytes >> 20} MiB")
    return _gathered(_records_at(text, path, file.place))


def _records_at(text: bytes, path: Sequence[Step], place: str) -> Iterator[tuple[int, bytes]]:
    documents = without = 0
    for start, document in _parsed_documents(text):
        if isinstance(document, bytes):
            yield start, document
            continue
        documents += 1
        records, leads_somewhere = _at(document, path)
        without += not leads_somewhere
        for record in records:
            yield start, dumps(record)
    if 0 < without < documents:  # of a path that finds nothing at all, the write warns
        configure_once()
        hint = "jsonPath leads nowhere in these documents, and they give no record"
        log.warning("documents_without_records", file=place, documents=without, of=documents, hint=hint)


def _parsed_documents(text: bytes) -> Iterator[tuple[int, Any]]:
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


def _at(document: Any, path: Sequence[Step]) -> tuple[list[Any], bool]:
    """Return the values at the end of a path, and whether it leads somewhere, if only to an empty list."""
    found = [document]
    for step in path:
        if step is None:
            lists = [value for value in found if isinstance(value, list)]
            found = [element for value in lists for element in value]
            if lists and not found:
                return [], True
        elif isinstance(step, int):
            found = [value[step] for value in found if isinstance(value, list) and step < len(value)]
        else:
            found = [value[step] for value in found if isinstance(value, dict) and step in value]
    return found, bool(found)
