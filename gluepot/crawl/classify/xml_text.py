"""XML: which elements are the records, and the types of their fields. Pure."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from xml.etree.ElementTree import ParseError, XMLPullParser

import pyarrow as pa

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.xml import XmlInputFormat
from gluepot.core.errors import PermanentError
from gluepot.crawl.classify.cells import ARROW, column_type
from gluepot.frames.objects import batch_from_objects

_MOST_RECORDS = 1000
_MOST_ELEMENTS = 20_000
_MOST_NAMING_BYTES = 64 << 10
_ROW_LEVEL = 2
_ENTITY = b"<!ENTITY"


@dataclass(frozen=True, slots=True)
class XmlShape:
    """What a text is as XML.

    Args:
        row_tag: name of the elements that are records.
        schema: of the records.
        records: how many were seen.
    """

    row_tag: str
    schema: pa.Schema
    records: int


def looks_like_xml(data: bytes) -> bool:
    """Tell whether a text begins as XML; HTML does not count."""
    begin = data[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return begin.startswith(b"<") and not begin.startswith((b"<!doctype html", b"<html"))


def xml_shape(data: bytes, place: str, row_tag: str = "") -> XmlShape | None:
    """Return what a text is as XML; None if it is none, or has no such elements.

    Args:
        data: the beginning of a file.
        place: its URL, for messages.
        row_tag: name of the elements; if it is empty, they are those that the root has most of.
    """
    if not looks_like_xml(data):
        return None
    tag = row_tag or _most_frequent(data)
    if not tag:
        return None
    records = _records(data, place, tag)
    return XmlShape(tag, _schema(records), len(records)) if records else None


def _records(data: bytes, place: str, tag: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    try:
        for record, _ in islice(XmlInputFormat(tag).records(OpenFile(io.BytesIO(data), place, "")), _MOST_RECORDS):
            found.append(record)
    except PermanentError:
        pass  # the head ends in the middle of an element
    return found


def _schema(records: list[Mapping[str, Any]]) -> pa.Schema:
    """Return the columns. Texts within structs and arrays stay texts, because readers leave them so."""
    schema = batch_from_objects(records).schema
    return pa.schema([_typed(field, records) if pa.types.is_string(field.type) else field for field in schema])


def _typed(field: pa.Field, records: list[Mapping[str, Any]]) -> pa.Field:
    return field.with_type(ARROW[column_type(record.get(field.name) for record in records)])


def _most_frequent(data: bytes) -> str:
    """Return the name of the children that the root has most of; empty if the text is no XML."""
    if _ENTITY in data[:_MOST_NAMING_BYTES]:
        return ""
    parser: Any = XMLPullParser(("start", "end"))
    names, level = Counter[str](), 0
    try:
        parser.feed(data[:_MOST_NAMING_BYTES])
        for event, element in islice(parser.read_events(), _MOST_ELEMENTS):
            level += event == "start"
            if event == "start" and level == _ROW_LEVEL:
                names[element.tag.rpartition("}")[2]] += 1
            level -= event == "end"
    except ParseError:
        return ""
    return names.most_common(1)[0][0] if names else ""
