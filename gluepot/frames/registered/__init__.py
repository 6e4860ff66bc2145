"""Payloads that name their schema: a header with an id, and the schema in a registry."""

from gluepot.frames.registered.headers import ConfluentHeader, GlueHeader, Header
from gluepot.frames.registered.payload import (
    DeclaredRegistered,
    RegisteredDecoder,
    RegisteredPayload,
    SchemaRegistry,
)
from gluepot.frames.registered.written import Wanted, WrittenSchema

__all__ = [
    "ConfluentHeader",
    "DeclaredRegistered",
    "GlueHeader",
    "Header",
    "RegisteredDecoder",
    "RegisteredPayload",
    "SchemaRegistry",
    "Wanted",
    "WrittenSchema",
]
