"""JSON: records on lines, documents over several lines, arrays of records, and paths to records. Pure."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.json.read import JsonInputFormat
from gluepot.connectors.files.formats.text_lines import BOM
from gluepot.core.errors import EtlError
from gluepot.crawl.schemas import merged, narrowed
from gluepot.frames.objects import batch_from_objects

_SPACE = b" \t\r\n"
# Records that a reader sets aside are no reason to give the whole file up.
_REGULAR_SHARE = 0.9
_MOST_RECORDS = 1000
_DOCUMENTS = {"multiLine": "true"}


@dataclass(frozen=True, slots=True)
class JsonShape:
    """What a text is as JSON.

    Args:
        schema: of the records.
        records: how many were seen.
        multi_line: whether documents go over several lines.
        is_partial: more was needed than the text has.
    """

    schema: pa.Schema
    records: int
    multi_line: bool = False
    is_partial: bool = False


def looks_like_json(data: bytes) -> bool:
    """Tell whether a text begins as JSON."""
    return data.removeprefix(BOM).lstrip(_SPACE)[:1] in {b"{", b"["}


def json_shape(data: bytes, place: str, path: str = "", *, is_whole: bool) -> JsonShape | None:
    """Return what a text is as JSON; None if it is none.

    Args:
        data: the beginning of a file.
        place: its URL, for messages.
        path: to the records, as a custom classifier gives it; empty for none.
        is_whole: whether it is the whole file.
    """
    if not looks_like_json(data):
        return None
    text = data.removeprefix(BOM)
    if path:
        return _of_documents(text, place, path, is_whole=is_whole)
    if text.lstrip(_SPACE).startswith(b"["):
        return _of_array(text, is_whole=is_whole)
    lines = text if is_whole else text[: text.rfind(b"\n") + 1]
    return _of_lines(lines, place, is_whole=is_whole) or _of_documents(text, place, "", is_whole=is_whole)


def _of_lines(text: bytes, place: str, *, is_whole: bool) -> JsonShape | None:
    first = next((line for line in text.split(b"\n") if line.strip()), b"")
    try:
        if not isinstance(orjson.loads(first), dict):
            return None
    except orjson.JSONDecodeError:
        return None
    return _read(text, place, JsonInputFormat(), is_whole=is_whole)


def _of_documents(text: bytes, place: str, path: str, *, is_whole: bool) -> JsonShape | None:
    try:
        form = JsonInputFormat.from_glue({"multiLine": "true", "jsonPath": path})
        shape = _read(text, place, form, is_whole=is_whole)
    except EtlError:
        shape = None
    if shape is None and not is_whole:
        documents = list(_complete(text.decode("utf-8", "replace"), array=text.lstrip(_SPACE).startswith(b"[")))
        if path in {"", "$", "$[*]"} and documents:
            return _shape(documents, is_whole=False)
        return JsonShape(pa.schema([]), 0, multi_line=True, is_partial=True)
    return shape


def _of_array(text: bytes, *, is_whole: bool) -> JsonShape | None:
    """Return one column `array`, as the built-in classifier does with a document that is an array."""
    if is_whole:
        try:
            elements = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
    else:
        elements = list(_complete(text.decode("utf-8", "replace"), array=True))
        if not elements:
            return JsonShape(pa.schema([]), 0, multi_line=True, is_partial=True)
    return _shape([{"array": elements[:_MOST_RECORDS]}], is_whole=is_whole)


def _shape(records: list[Any], *, is_whole: bool) -> JsonShape | None:
    try:
        batch = batch_from_objects([one for one in records if isinstance(one, dict)])
    except (TypeError, ValueError, OverflowError):
        return None
    schema = narrowed(batch) if is_whole else batch.schema
    return JsonShape(schema, len(records), multi_line=True)


def _read(text: bytes, place: str, form: JsonInputFormat, *, is_whole: bool) -> JsonShape | None:
    good = bad = 0
    schemas = []
    for chunk in form.reader().read(OpenFile(io.BytesIO(text), place, "", is_unpacked=True)):
        good, bad = good + chunk.batch.num_rows, bad + len(chunk.errors)
        schemas.append(narrowed(chunk.batch) if is_whole else chunk.batch.schema)
    if not good or good < _REGULAR_SHARE * (good + bad):
        return None
    return JsonShape(merged(schemas), good, form.multi_line)


def _complete(text: str, *, array: bool) -> Iterator[Any]:
    """Yield the documents, or the elements of an array, that a text holds from begin to end."""
    decoder, at = json.JSONDecoder(), text.index("[") + 1 if array else 0
    for _ in range(_MOST_RECORDS):
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value
