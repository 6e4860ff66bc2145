"""Classifiers of one's own, in the words of the API (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.files.formats.grok.patterns import grok_pattern
from gluepot.connectors.files.formats.json.read import JsonInputFormat
from gluepot.core.errors import ConfigError
from gluepot.crawl.classify.csv_text import DELIMITERS, CsvShape, Dialect, csv_shape
from gluepot.crawl.classify.head import Head
from gluepot.crawl.classify.json_text import json_shape
from gluepot.crawl.classify.kinds import csv_kind, grok_kind, json_kind, lines_of, text_of, whole_lines, xml_kind
from gluepot.crawl.classify.logs import certainty
from gluepot.crawl.classify.xml_text import xml_shape
from gluepot.crawl.values import Classified

KINDS = ("GrokClassifier", "XMLClassifier", "JsonClassifier", "CsvClassifier")
"""The kinds of classifiers, as the API names them."""

_TYPES = {
    "BINARY": "binary",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DECIMAL": "decimal",
    "DOUBLE": "double",
    "FLOAT": "float",
    "INT": "int",
    "LONG": "bigint",
    "SHORT": "smallint",
    "STRING": "string",
    "TIMESTAMP": "timestamp",
}
_HEADERS = {"UNKNOWN": None, "PRESENT": True, "ABSENT": False}


@dataclass(frozen=True, slots=True)
class Custom:
    """A classifier of one's own.

    Args:
        kind: one of `KINDS`.
        body: its members.
    """

    kind: str
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body.get("Name") or self.kind)

    def classify(self, head: Head) -> tuple[float, Classified]:
        """Return its certainty that it knows a file, from 0 to 1, and what the file is."""
        match self.kind:
            case "GrokClassifier":
                return _grok(self.body, head)
            case "XMLClassifier":
                return _xml(self.body, head)
            case "JsonClassifier":
                return _json(self.body, head)
            case _:
                return _csv(self.body, head)


def read_classifier(given: Mapping[str, Any]) -> Custom:
    """Read a classifier as CreateClassifier takes it, or GetClassifier returns it.

    Raises:
        ConfigError: it is none, or cannot classify.
    """
    plain = given.get("Classifier", given)
    found = [name for name in KINDS if name in plain]
    if len(found) != 1:
        raise ConfigError(f"A classifier has {' and '.join(found) or 'no kind'}; give one of {', '.join(KINDS)}.")
    custom = Custom(found[0], dict(plain[found[0]]))
    check(custom)
    return custom


def check(custom: Custom) -> None:
    """Refuse a classifier that cannot classify.

    Raises:
        ConfigError: as `read_classifier`.
    """
    body = custom.body
    match custom.kind:
        case "GrokClassifier":
            grok_pattern(_needed(custom, "GrokPattern"), str(body.get("CustomPatterns") or ""))
            _needed(custom, "Classification")
        case "XMLClassifier":
            _needed(custom, "Classification")
            _needed(custom, "RowTag")
        case "JsonClassifier":
            JsonInputFormat.from_glue({"jsonPath": _needed(custom, "JsonPath")})
        case _:
            _dialect(body)


def _needed(custom: Custom, member: str) -> str:
    value = str(custom.body.get(member) or "")
    if not value:
        raise ConfigError(f"The classifier {custom.name} has no {member}; give it.")
    return value


def _grok(body: Mapping[str, Any], head: Head) -> tuple[float, Classified]:
    text = text_of(head)
    if text is None:
        return 0.0, Classified(None)
    lines = lines_of(text, head)
    pattern, customs = str(body["GrokPattern"]), str(body.get("CustomPatterns") or "")
    sure = certainty(lines, pattern, customs, whole=False)
    return sure, Classified(
        grok_kind(str(body["Classification"]), head, pattern, customs), records=len(lines), seen_bytes=len(head.data)
    )


def _xml(body: Mapping[str, Any], head: Head) -> tuple[float, Classified]:
    shape = xml_shape(head.data, head.place, str(body["RowTag"]))
    if shape is None:
        return 0.0, Classified(None)
    kind = xml_kind(head, shape, str(body["Classification"]))
    return 1.0, Classified(kind, records=shape.records, seen_bytes=len(head.data))


def _json(body: Mapping[str, Any], head: Head) -> tuple[float, Classified]:
    path = str(body["JsonPath"])
    shape = json_shape(head.data, head.place, path, is_whole=head.is_whole)
    if shape is not None and shape.is_partial:
        head.more()
        shape = json_shape(head.data, head.place, path, is_whole=head.is_whole)
    if shape is None or shape.is_partial:
        return 0.0, Classified(None)
    return 1.0, Classified(json_kind(head, shape, path), records=shape.records, seen_bytes=len(head.data))


def _csv(body: Mapping[str, Any], head: Head) -> tuple[float, Classified]:
    text = text_of(head)
    shape: CsvShape | None = None if text is None else csv_shape(whole_lines(text, head), _dialect(body))
    if shape is None:
        return 0.0, Classified(None)
    kind = csv_kind(head, shape, str(body.get("QuoteSymbol") or ""), str(body.get("Serde") or ""))
    return 1.0, Classified(kind, records=shape.rows, seen_bytes=len(head.data))


def _dialect(body: Mapping[str, Any]) -> Dialect:
    delimiter, quote = str(body.get("Delimiter") or ""), str(body.get("QuoteSymbol") or '"')
    if delimiter and (len(delimiter) > 1 or delimiter == quote):
        raise ConfigError(f"Delimiter is {delimiter!r} and QuoteSymbol {quote!r}; give different single characters.")
    types = body.get("CustomDatatypes") or () if body.get("CustomDatatypeConfigured") else ()
    if unknown := [one for one in types if one not in _TYPES]:
        raise ConfigError(f"CustomDatatypes has {unknown[0]!r}; use {', '.join(_TYPES)}.")
    header = str(body.get("ContainsHeader") or "UNKNOWN")
    if header not in _HEADERS:
        raise ConfigError(f"ContainsHeader is {header!r}; use {', '.join(_HEADERS)}.")
    return Dialect(
        delimiters=(delimiter,) if delimiter else DELIMITERS,
        quote=quote,
        header=_HEADERS[header],
        names=tuple(body.get("Header") or ()),
        single=bool(body.get("AllowSingleColumn")),
        types=tuple(_TYPES[one] for one in types),
    )
