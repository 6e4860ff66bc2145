"""Payloads whose columns a script declares (`schema` with `inferSchema` false, glue-api 3.5)."""

from dynamicframe.declared.avro_records import DeclaredAvro
from dynamicframe.declared.csv_records import DeclaredCsv
from dynamicframe.declared.json_records import DeclaredJson
from dynamicframe.declared.payload import DeclaredPayload, RecordDecoder

__all__ = ["DeclaredAvro", "DeclaredCsv", "DeclaredJson", "DeclaredPayload", "RecordDecoder"]
