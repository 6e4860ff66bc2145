"""XML: an element of the row tag is a record; attributes, text and child elements are its fields (docs/glue 5.2).

A value is a text, for no schema of the document is read; `withSchema`, or the columns of a catalog's table, give types.
Values of one name within an element become an array: repeated children, attributes that differ only in their namespace,
and the texts before, between and after children. Namespaces are left out of names.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser, iterparse

import pyarrow as pa

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import MOST_RECORD_BYTES, VALUE_BYTES, BoundedReads, gathered, too_large
from gluepot.connectors.files.formats.schemas import with_schema
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.option_values import flag
from gluepot.frames.chunk import Chunk
from gluepot.frames.json_footprint import MAX_DEPTH
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.read_texts import ReadTexts

_BATCH_ROWS = 5_000
# Each level of a document takes memory until it ends. The levels of a record become columns, which have a lower limit.
_MOST_LEVELS = 1_000
# An element with its text, and the dictionary that becomes of it.
_ELEMENT_BYTES = 400
_MOST_PIECE_BYTES = 8 << 20
_ENTITY = b"<!ENTITY"
_MOST_BYTES_WITH_ENTITIES = 1 << 20


@dataclass(frozen=True, slots=True)
class XmlInputFormat:
    """Settings of the reader.

    Args:
        row_tag: name of the elements that are records.
        encoding: of the files; None for what they say themselves.
        attribute_prefix: what the name of a field begins with that was an attribute.
        value_tag: name of the field for the text of an element that has attributes or children, too.
        with_attributes: whether attributes are read.
        empty_is_null: an element without text is null, not an empty text.
        trims: white space around texts goes.
        types: of fields, where they are given.
        zone: the zone of times without one.
    """

    row_tag: str
    encoding: str | None = None
    attribute_prefix: str = "_"
    value_tag: str = "_VALUE"
    with_attributes: bool = True
    empty_is_null: bool = False
    trims: bool = False
    types: Mapping[str, pa.DataType] | None = None
    zone: TimeZone = UTC

    @property
    def finds_records_by(self) -> str:
        """The option that finds the records in a file."""
        return "rowTag"

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> XmlInputFormat:
        """Read Glue's `format_options`.

        Raises:
            ConfigError: `rowTag` is missing, or an option has a value that is not understood.
        """
        row_tag = str(options.get("rowTag") or "").strip().strip("<>")
        if not row_tag:
            raise ConfigError("XML needs a rowTag; give format_options={'rowTag': 'name of the elements to read'}.")
        encoding = options.get("encoding")
        if encoding:
            try:
                codecs.lookup(str(encoding))
            except (LookupError, ValueError) as error:
                raise ConfigError(
                    f"encoding is {encoding!r}, which is not known; use UTF-8, ISO-8859-1, ..."
                ) from error
        schema = with_schema(options)
        return cls(
            row_tag=row_tag,
            encoding=encoding or None,
            attribute_prefix=str(options.get("attributePrefix", "_")),
            value_tag=str(options.get("valueTag") or "_VALUE"),
            with_attributes=not flag(options, "excludeAttribute"),
            empty_is_null=flag(options, "treatEmptyValuesAsNulls"),
            trims=flag(options, "ignoreSurroundingSpaces"),
            types=None if schema is None else {field.name: field.type for field in schema},
        )

    @property
    def needs_seek(self) -> bool:
        """Read from start to end."""
        return False

    @property
    def splits(self) -> bool:
        """Where an element ends is known only from its start."""
        return False

    def reader(self) -> XmlInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        for some in gathered(self.records(file), _BATCH_ROWS):
            chunk = Chunk(batch_from_objects(some))
            yield ReadTexts(self.types, self.zone)(chunk) if self.types else chunk

    def records(self, file: OpenFile) -> Iterator[tuple[Mapping[str, Any], int]]:
        """Yield each record with an estimate of its memory in bytes.

        Raises:
            PermanentError: the file is no XML, or a record takes too much memory.
        """
        try:
            for row, row_bytes in _rows(file, self.row_tag, self.encoding):
                value = self._value(row)
                yield (value if isinstance(value, dict) else {self.value_tag: value}), row_bytes
        except (ParseError, LookupError, ValueError) as error:  # the last two are of encodings that expat does not have
            raise PermanentError(
                f"{file.place} is not valid XML ({error}); write it again, or skip it with exclusions"
            ) from error

    def _value(self, element: Element) -> dict[str, Any] | str | None:
        fields: dict[str, Any] = {}
        if self.with_attributes:
            for name, text in element.attrib.items():
                _add(fields, f"{self.attribute_prefix}{_local(name)}", text)
        for child in element:
            _add(fields, _local(child.tag), self._value(child))
        for text in self._texts(element):
            _add(fields, self.value_tag, text)
        if len(element) or (self.with_attributes and element.attrib):
            return fields
        text = fields.get(self.value_tag, "")
        return None if self.empty_is_null and not text else text

    def _texts(self, element: Element) -> Iterator[str]:
        """Yield the texts that an element has before, between and after its children."""
        if not len(element):
            text = element.text or ""
            if text := text.strip() if self.trims else text:
                yield text
            return
        for part in (element.text, *(child.tail for child in element)):
            if part and (trimmed := part.strip()):  # between children, white space is the layout of the document
                yield trimmed if self.trims else part


def _add(fields: dict[str, Any], name: str, value: Any) -> None:
    """Add a field; values of the same name become an array."""
    if name not in fields:
        fields[name] = value
    elif isinstance(fields[name], list):
        fields[name].append(value)
    else:
        fields[name] = [fields[name], value]


def _rows(file: OpenFile, row_tag: str, encoding: str | None) -> Iterator[tuple[Element, int]]:
    """Yield the outermost elements of a name with an estimate of their memory; what has been read is let go."""
    source = _Source(file.plain, file.place, MOST_RECORD_BYTES)
    depth = levels = row_bytes = 0
    above: list[Element] = []
    for event, element in iterparse(source, ("start", "end"), _parser(encoding)):  # noqa: S314  see `_parser`
        is_row = _local(element.tag) == row_tag
        source.silent_bytes = 0
        if event == "start":
            source.is_prolog = False
            depth += is_row
            above.append(element)
            if len(above) > _MOST_LEVELS:
                raise too_large(file.place, f"elements nested more than {_MOST_LEVELS} levels deep")
            if depth:
                levels += 1
                if levels > MAX_DEPTH:
                    raise too_large(file.place, f"a record nested more than {MAX_DEPTH} levels deep")
                row_bytes += _ELEMENT_BYTES + VALUE_BYTES * len(element.attrib)
                _check(row_bytes, file.place)
            continue
        above.pop()
        depth -= is_row
        if depth or is_row:
            levels -= 1
            row_bytes += len(element.text or "") + sum(len(child.tail or "") for child in element)
        if is_row and not depth:
            _check(row_bytes, file.place)
            yield element, row_bytes
            row_bytes = 0
        if above and not depth:
            above[-1].remove(element)
            source.completed()


def _check(row_bytes: int, place: str) -> None:
    if row_bytes > MOST_RECORD_BYTES:
        raise too_large(place, f"a record that takes more than {MOST_RECORD_BYTES >> 20} MiB")


class _Source(BoundedReads):
    """Refuses a large file that declares entities: expat lets those grow to a hundred times of what it has read.

    It gives more than it is asked for where nothing has come of what it gave before. Expat 2.5 parses a long token
    again from its start with each piece, which takes minutes where the pieces are small.
    """

    is_prolog = True
    silent_bytes = 0
    _tail = b""
    _read_bytes = 0
    _declares = False

    def read(self, size: int = -1) -> bytes:
        data = super().read(max(size, min(self.silent_bytes // 2, _MOST_PIECE_BYTES))) or b""
        self.silent_bytes += len(data)
        if self.is_prolog and not self._declares:
            text = (self._tail + data).replace(b"\0", b"")  # UTF-16, too
            self._declares = _ENTITY in text
            self._tail = text[1 - len(_ENTITY) :]
        self._read_bytes += len(data)
        if self._declares and self._read_bytes > _MOST_BYTES_WITH_ENTITIES:
            raise too_large(self._place, f"entities and more than {_MOST_BYTES_WITH_ENTITIES >> 20} MiB")
        return data


def _parser(encoding: str | None) -> XMLParser:
    """Return a parser; it is expat, which reads no other files and refuses entities that grow without end."""
    return XMLParser(encoding=encoding)  # noqa: S314


def _local(name: str) -> str:
    return name.rpartition("}")[2]
