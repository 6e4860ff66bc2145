"""Schemas in Avro. Pure."""

from __future__ import annotations

import json
from typing import Any

import fastavro
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from avro.schema import Schema, parse

from gluepot.service.schemas.problems import SchemaProblem


def check(text: str) -> None:
    """Check a schema.

    Raises:
        SchemaProblem: it is not a schema in Avro.
    """
    try:
        plain = json.loads(text)
        fastavro.parse_schema(plain)  # unlike the other library it checks default values
        _parsed(plain)
    except json.JSONDecodeError as error:
        raise SchemaProblem(f"It is not JSON: {error}.") from None
    except RecursionError:
        raise SchemaProblem("It is nested too deeply.") from None
    except Exception as error:  # noqa: BLE001  both libraries raise whatever they run into in a wrong schema
        raise SchemaProblem(f"{type(error).__name__}: {error}") from None


def why_unreadable(reader: str, writer: str) -> str | None:
    """Return why readers with one schema cannot read records of another one; None if they can.

    Args:
        reader: a valid schema.
        writer: a valid schema.
    """
    try:
        checker: Any = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
        found = checker.get_compatibility(_parsed(json.loads(reader)), _parsed(json.loads(writer)))
    except (AvroException, RecursionError) as error:
        return f"The schemas cannot be compared: {error or 'they are nested too deeply'}"
    if found.compatibility is SchemaCompatibilityType.compatible:
        return None
    kinds = ", ".join(sorted({one.name for one in found.incompatibilities}))
    return f"{kinds} at {', '.join(sorted(found.locations))}: {'; '.join(sorted(found.messages))}"


def _parsed(plain: Any) -> Schema:
    return parse(json.dumps(_without_logical_types(plain)))


def _without_logical_types(plain: Any) -> Any:
    """Return a schema without logical types: they change nothing in what can be read, and some warn."""
    if isinstance(plain, list):
        return [_without_logical_types(one) for one in plain]
    if isinstance(plain, dict):
        return {
            name: one if name == "default" else _without_logical_types(one)
            for name, one in plain.items()
            if name != "logicalType"
        }
    return plain
