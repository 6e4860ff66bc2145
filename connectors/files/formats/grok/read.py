"""The format `grokLog`: a line that fits the pattern is a record (docs/glue 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import VALUE_BYTES, gathered
from gluepot.connectors.files.formats.grok.patterns import grok_pattern
from gluepot.connectors.files.formats.text_lines import line_blocks, lines_of
from gluepot.core.errors import ConfigError
from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.time_zone import UTC, TimeZone

_BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class GrokInputFormat:
    """Settings of the reader.

    Args:
        pattern: of a line.
        customs: patterns of one's own, one a line.
        zone: the zone of times without one.
    """

    pattern: str
    customs: str = ""
    zone: TimeZone = UTC

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> GrokInputFormat:
        """Read Glue's `format_options`.

        Raises:
            ConfigError: `logFormat` is missing, or is no pattern.
        """
        pattern, customs = str(options.get("logFormat") or ""), str(options.get("customPatterns") or "")
        if not pattern:
            raise ConfigError("grokLog needs a logFormat; give format_options={'logFormat': '%{COMBINEDAPACHELOG}'}.")
        grok_pattern(pattern, customs)
        return cls(pattern, customs)

    @property
    def needs_seek(self) -> bool:
        """Read from start to end."""
        return False

    @property
    def splits(self) -> bool:
        """Lines are records."""
        return True

    def reader(self) -> GrokInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order; lines that do not fit the pattern, or a type in it, as errors."""
        plain, at = (file.plain, 0) if file.piece is None else lines_of(file.plain, file.piece)
        for values, positions in line_blocks(plain, file.place, at):
            sized = ((one, len(one[0]) + VALUE_BYTES) for one in zip(values, positions, strict=True))
            for some in gathered(sized, _BATCH_ROWS):
                yield self._chunk(some, file)

    def _chunk(self, lines: list[tuple[bytes, int]], file: OpenFile) -> Chunk:
        pattern = grok_pattern(self.pattern, self.customs)
        found = [pattern.match(line.decode("utf-8", "replace").rstrip("\r")) for line, _ in lines]
        texts = pa.RecordBatch.from_pylist(
            [one or {} for one in found], schema=pa.schema([(field.name, pa.string()) for field in pattern.schema])
        )
        columns = [
            try_cast(column, field.type, self.zone) if field.type != pa.string() else column
            for column, field in zip(texts.columns, pattern.schema, strict=True)
        ]
        good, errors = [], []
        for at, (line, position) in enumerate(lines):
            why = _wrong(found[at], at, texts, columns)
            good.append(not why)
            if why:
                place = Coordinates(file.place, file.partition, str(position))
                errors.append(ErrorRecord(line, "malformed_log", why, place))
        batch = pa.RecordBatch.from_arrays(columns, schema=pattern.schema)
        return Chunk(batch.filter(pa.array(good, pa.bool_())), errors)


def _wrong(found: object, at: int, texts: pa.RecordBatch, columns: list[pa.Array]) -> str:
    if found is None:
        return "The line does not match the grok pattern."
    for name, text, column in zip(texts.schema.names, texts.columns, columns, strict=True):
        if text[at].is_valid and not column[at].is_valid:
            return f"The field {name} is {text[at].as_py()!r}, which is not of type {column.type}."
    return ""
