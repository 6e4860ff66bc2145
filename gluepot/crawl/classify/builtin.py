"""The built-in classifiers, in Glue's order: each knows a file, or does not (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import BinaryIO

import pyarrow as pa
from pyarrow import orc, parquet

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.arrow_types import glue_types
from gluepot.connectors.files.formats.avro import schema_of
from gluepot.connectors.files.formats.columnar import unreadable
from gluepot.connectors.files.formats.ion import IonInputFormat
from gluepot.connectors.files.formats.orc import refuse_unions
from gluepot.connectors.files.formats.parquet.types import glue_columns
from gluepot.core.errors import ConfigError, EtlError, PermanentError
from gluepot.crawl.classify.bson import bson_records, looks_like_bson
from gluepot.crawl.classify.csv_text import Dialect, csv_shape
from gluepot.crawl.classify.custom import Custom
from gluepot.crawl.classify.head import Head
from gluepot.crawl.classify.json_text import json_shape
from gluepot.crawl.classify.kinds import (
    columnar_kind,
    csv_kind,
    grok_kind,
    json_kind,
    lines_of,
    text_of,
    whole_lines,
    xml_kind,
)
from gluepot.crawl.classify.logs import LOGS, log_of
from gluepot.crawl.classify.xml_text import xml_shape
from gluepot.crawl.values import UNKNOWN, Classified, FileKind
from gluepot.frames.objects import batch_from_objects

_AVRO, _ORC, _PARQUET, _SECRET_PARQUET = b"Obj\x01", b"ORC", b"PAR1", b"PARE"
_ION, _ION_TEXT = b"\xe0\x01\x00\xea", b"$ion_1_0"

Builtin = Callable[[Head], Classified | None]


def classify(head: Head, customs: Sequence[Custom] = ()) -> Classified:
    """Say what a file is.

    The first custom classifier that is certain decides; then the first built-in one that knows the file; then the
    custom one that is least uncertain.

    Raises:
        PermanentError: the file is damaged: it begins as a format says, and does not go on so.
    """
    if not head.data:
        return Classified(None, "it is empty")
    best, nearest = 0.0, Classified(FileKind(UNKNOWN, head.compression), _why_unknown(head))
    for one in customs:
        sure, found = one.classify(head)
        if sure >= 1.0:
            return found
        if sure > best:
            best, nearest = sure, found
    known = next((said for builtin in _BUILTINS if (said := builtin(head)) is not None), None)
    return known or nearest


def _avro(head: Head) -> Classified | None:
    if not head.data.startswith(_AVRO):
        return None
    schema, text = schema_of(OpenFile(_opened(head), head.place, ""))
    return Classified(columnar_kind("avro", schema, text))


def _orc(head: Head) -> Classified | None:
    if not head.data.startswith(_ORC):
        return None
    with _opened(head) as plain:
        whole = OpenFile(plain, head.place, "")
        try:
            file = orc.ORCFile(pa.PythonFile(plain, "r"))
            refuse_unions(list(file.schema), head.place)
            return Classified(columnar_kind("orc", _glue_schema(file.schema)), "", file.nrows, head.size_bytes)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(whole, "ORC", _ORC, error) from error


def _parquet(head: Head) -> Classified | None:
    if head.data.startswith(_SECRET_PARQUET):
        raise PermanentError(f"{head.place} is Parquet with an encrypted footer; decrypt it, or skip it")
    if not head.data.startswith(_PARQUET):
        return None
    with _opened(head) as plain:
        whole = OpenFile(plain, head.place, "")
        try:
            file = parquet.ParquetFile(plain, coerce_int96_timestamp_unit="us")
            schema = glue_columns(file, head.place)
            return Classified(columnar_kind("parquet", schema), "", file.metadata.num_rows, head.size_bytes)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(whole, "Parquet", _PARQUET, error) from error


def _json(head: Head) -> Classified | None:
    shape = json_shape(head.data, head.place, is_whole=head.is_whole)
    if shape is not None and shape.is_partial:
        head.more()
        shape = json_shape(head.data, head.place, is_whole=head.is_whole)
    if shape is None or shape.is_partial:
        return None
    return Classified(json_kind(head, shape), "", shape.records, len(head.data))


def _bson(head: Head) -> Classified | None:
    if not looks_like_bson(head.data, is_whole=head.is_whole):
        return None
    records = bson_records(head.data)
    if not records:
        return None
    schema = batch_from_objects(records).schema
    return Classified(FileKind("bson", head.compression, schema, "bson"), "", len(records), len(head.data))


def _xml(head: Head) -> Classified | None:
    shape = xml_shape(head.data, head.place)
    return None if shape is None else Classified(xml_kind(head, shape), "", shape.records, len(head.data))


def _ion(head: Head) -> Classified | None:
    begin = head.data.lstrip()
    is_certain = head.data.startswith(_ION) or begin.startswith(_ION_TEXT)
    if not is_certain and not begin.startswith(b"{"):
        return None
    with head.reopen() as plain:
        try:
            chunks = list(islice(IonInputFormat().read(OpenFile(plain, head.place, "")), 1))
        except ConfigError as error:
            return Classified(FileKind(UNKNOWN, head.compression), str(error)) if is_certain else None
        except EtlError:
            if is_certain:
                raise
            return None
    if not chunks or not chunks[0].batch.num_rows:
        return None
    batch = chunks[0].batch
    return Classified(FileKind("ion", head.compression, batch.schema, "ion"), "", batch.num_rows, head.size_bytes)


def _log(head: Head) -> Classified | None:
    text = text_of(head)
    lines = [] if text is None else lines_of(text, head)
    name = log_of(lines)
    return Classified(grok_kind(name, head, LOGS[name]), "", len(lines), len(head.data)) if name else None


def _csv(head: Head) -> Classified | None:
    text = text_of(head)
    if text is None:
        return None
    shape = csv_shape(whole_lines(text, head), Dialect())
    if shape is None and not head.is_whole and "\n" not in text:
        head.more()
        shape = csv_shape(whole_lines(text_of(head) or "", head), Dialect())
    return None if shape is None else Classified(csv_kind(head, shape), "", shape.rows, len(head.data))


_BUILTINS: Sequence[Builtin] = (_avro, _orc, _parquet, _json, _bson, _xml, _ion, _log, _csv)
"""In Glue's order; the logs are one."""


def _opened(head: Head) -> BinaryIO:
    """Open a file that is read from its end.

    Raises:
        PermanentError: it is compressed as a whole, which readers of such formats do not undo.
    """
    if head.compression != "none":
        raise PermanentError(
            f"{head.place} is compressed by {head.compression} around a format that compresses by itself; decompress"
            " it, or skip it with exclusions"
        )
    return head.reopen()


def _glue_schema(schema: pa.Schema) -> pa.Schema:
    return glue_types(pa.RecordBatch.from_pylist([], schema=schema.remove_metadata())).schema


def _why_unknown(head: Head) -> str:
    return "no classifier knows it, and it is no text" if text_of(head) is None else "no classifier knows it"
