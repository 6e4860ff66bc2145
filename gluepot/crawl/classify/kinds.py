"""Kinds of files from what their text told: parameters and SerDe settings of the tables that hold them. Pure."""

from __future__ import annotations

import json

import pyarrow as pa

from gluepot.connectors.files.formats.grok.patterns import grok_pattern
from gluepot.connectors.files.formats.text_lines import BOM
from gluepot.crawl.classify.csv_text import CsvShape
from gluepot.crawl.classify.head import Head
from gluepot.crawl.classify.json_text import JsonShape
from gluepot.crawl.classify.xml_text import XmlShape
from gluepot.crawl.values import FileKind

_OPEN_CSV = "OpenCSVSerDe"
# A binary file has NUL bytes among its first thousands.
_LOOKED_BYTES = 64 << 10
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text_of(head: Head) -> str | None:
    """Return the head as a text; None if it is none."""
    data = head.data.removeprefix(BOM)
    if b"\0" in data[:_LOOKED_BYTES] or data.startswith(_UTF_16):
        return None
    text = data.decode("utf-8", "replace")
    return None if text.count("\ufffd") > len(text) // 100 else text


def whole_lines(text: str, head: Head) -> str:
    """Return a text without the line that the end of the head cuts."""
    return text if head.is_whole else text[: text.rfind("\n") + 1]


def lines_of(text: str, head: Head) -> list[str]:
    """Return the lines of a text that are not blank, without the one that the end of the head cuts."""
    return [line for line in whole_lines(text, head).splitlines() if line.strip()]


def csv_kind(head: Head, shape: CsvShape, quote: str = "", serde: str = "") -> FileKind:
    """Return the kind of a CSV file.

    Args:
        head: of the file.
        shape: what it is.
        quote: what a custom classifier says of quotes.
        serde: which SerDe it asks for.
    """
    open_csv = serde == _OPEN_CSV
    has_quotes = shape.has_quotes or bool(quote)
    basics = [("columnsOrdered", "true"), ("delimiter", shape.delimiter)]
    if shape.has_header:
        basics.append(("skip.header.line.count", "1"))
    traits = [("areColumnsQuoted", str(has_quotes).lower())]
    if has_quotes:
        traits.append(("quoteChar", quote or '"'))
    if shape.has_breaks:
        traits.append(("multiLine", "true"))
    settings = (
        (("escapeChar", "\\"), ("quoteChar", quote or '"'), ("separatorChar", shape.delimiter))
        if open_csv
        else (("field.delim", shape.delimiter),)
    )
    schema = pa.schema([field.with_type(pa.string()) for field in shape.schema]) if open_csv else shape.schema
    return FileKind(
        "csv",
        head.compression,
        schema,
        "opencsv" if open_csv else "csv",
        tuple(basics),
        tuple(traits),
        settings,
        header=shape.header,
        below=shape.below,
    )


def json_kind(head: Head, shape: JsonShape, path: str = "") -> FileKind:
    """Return the kind of a JSON file; `path` leads to its records."""
    basics = [("jsonPath", path)] if path else []
    traits = (("multiLine", "true"),) if shape.multi_line and not path else ()
    paths = ",".join(sorted(shape.schema.names))
    return FileKind("json", head.compression, shape.schema, "json", tuple(basics), traits, (("paths", paths),))


def xml_kind(head: Head, shape: XmlShape, classification: str = "xml") -> FileKind:
    """Return the kind of an XML file."""
    return FileKind(classification, head.compression, shape.schema, "xml", (("rowTag", shape.row_tag),))


def grok_kind(classification: str, head: Head, pattern: str, customs: str = "") -> FileKind:
    """Return the kind of a log."""
    serde = [("input.format", pattern), *([("input.grokCustomPatterns", customs)] if customs else [])]
    basics = [("grokPattern", pattern), *([("grokCustomPatterns", customs)] if customs else [])]
    schema = grok_pattern(pattern, customs).schema
    return FileKind(classification, head.compression, schema, "groklog", tuple(basics), serde=tuple(serde))


def columnar_kind(name: str, schema: pa.Schema, avro_schema: str = "") -> FileKind:
    """Return the kind of a Parquet, ORC or Avro file, which are compressed inside."""
    serde = {
        "parquet": (("serialization.format", "1"),),
        "avro": (("avro.schema.literal", json.dumps(json.loads(avro_schema or "null"))), ("serialization.format", "1")),
    }
    return FileKind(name, "none", schema, name, serde=serde.get(name, ()))
