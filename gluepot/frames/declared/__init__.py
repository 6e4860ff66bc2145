"""Payloads whose columns a script declares (`schema` with `inferSchema` false, docs/glue 3.5)."""

from gluepot.frames.declared.avro_records import DeclaredAvro
from gluepot.frames.declared.csv_records import DeclaredCsv
from gluepot.frames.declared.json_records import DeclaredJson
from gluepot.frames.declared.payload import DeclaredPayload, GrowingDecoder, GrowingPayload, RecordDecoder

__all__ = [
    "DeclaredAvro",
    "DeclaredCsv",
    "DeclaredJson",
    "DeclaredPayload",
    "GrowingDecoder",
    "GrowingPayload",
    "RecordDecoder",
]
