"""Values of rows as BSON, and back. Pure.

A row is encoded by the C code of pymongo, which asks us only about the types that BSON lacks: decimals become
Decimal128, and dates become midnight in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, DecimalException
from typing import Any

import bson
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.codec_options import CodecOptions, DatetimeConversion, TypeEncoder, TypeRegistry
from bson.datetime_ms import DatetimeMS
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument

MOST_BYTES = 16 << 20
"""The largest document that MongoDB and DocumentDB hold."""
MOST_LEVELS = 100
"""How deep a document may be nested."""
BAD_ID, BAD_VALUE, TOO_LARGE = "bad_id", "bad_value", "too_large"

_NESTED = frozenset({dict, list})
_OBJECT_ID = re.compile("[0-9a-f]{24}")


class NoDocument(ValueError):
    """A row that no document can be.

    Args:
        reason: see `Refusal`.
        clause: what is wrong, such as `its _id is a list`.
    """

    def __init__(self, reason: str, clause: str) -> None:
        super().__init__(clause)
        self.reason = reason


class _Decimals(TypeEncoder):
    @property
    def python_type(self) -> type[Decimal]:
        return Decimal

    def transform_python(self, value: Decimal) -> Decimal128:
        return Decimal128(value)


class _Dates(TypeEncoder):
    @property
    def python_type(self) -> type[date]:
        return date

    def transform_python(self, value: date) -> datetime:
        return datetime(value.year, value.month, value.day, tzinfo=UTC)


WRITING: CodecOptions[dict[str, Any]] = CodecOptions(type_registry=TypeRegistry([_Decimals(), _Dates()]))
"""How documents are encoded."""
READING: CodecOptions[dict[str, Any]] = CodecOptions(
    tz_aware=True, tzinfo=UTC, datetime_conversion=DatetimeConversion.DATETIME_AUTO
)
"""How documents are decoded: times that Python cannot hold stay milliseconds."""


def document_key(fields: Mapping[str, Any], own_id: str, *, has_object_ids: bool) -> Any:
    """Return the `_id` of a row: its own one, else the text that a repetition gives it again.

    An ObjectId is read as the text of its 24 hexadecimal digits, so such a text becomes an ObjectId again; so does the
    struct `{"oid": "..."}` that older connectors give.

    Args:
        fields: the row's values.
        own_id: `Document.id`.
        has_object_ids: False to leave texts texts.

    Raises:
        NoDocument: MongoDB allows no such `_id`.
    """
    key = fields.get("_id")
    if key is None:
        return own_id
    if isinstance(key, dict) and key.keys() == {"oid"}:
        key = key["oid"]
        if not (isinstance(key, str) and _OBJECT_ID.fullmatch(key)):
            raise NoDocument(BAD_ID, f"its _id.oid is {key!r}, which is no ObjectId")
        return ObjectId(key)
    if isinstance(key, list):
        raise NoDocument(BAD_ID, "its _id is a list")
    if has_object_ids and isinstance(key, str) and _OBJECT_ID.fullmatch(key):
        return ObjectId(key)
    return key


def upsert(fields: Mapping[str, Any], key: Any, *, replaces: bool) -> RawBSONDocument:
    """Return the statement that puts a row, encoded.

    It is encoded once: the call that sends it copies its bytes.

    Args:
        fields: the row's values, without those that are null; see `Document`.
        key: the `_id`.
        replaces: whether the row becomes the document; otherwise its fields are set.

    Raises:
        NoDocument: BSON cannot hold a value or a name, or the document would be too large or too deep.
    """
    made = {"_id": key, **fields}
    made["_id"] = key
    for name, value in fields.items():
        if type(value) in _NESTED and name != "_id":
            made[name] = _pruned(value, 2)
    encoded = _encoded({"q": {"_id": key}, "u": made if replaces else _changes(made), "upsert": True})
    # The statement is larger than the document, so hardly ever must the document be sized on its own.
    if len(encoded) > MOST_BYTES and (size_bytes := len(_encoded(made))) > MOST_BYTES:
        raise NoDocument(TOO_LARGE, f"it takes {size_bytes} bytes, and a document has {MOST_BYTES} at most")
    return RawBSONDocument(encoded)


def _changes(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the change that sets the fields of a document, or makes it where it has an `_id` alone."""
    others = {name: value for name, value in made.items() if name != "_id"}
    return {"$set": others} if others else {"$setOnInsert": {"_id": made["_id"]}}


def _encoded(made: Mapping[str, Any]) -> bytes:
    try:
        return bson.encode(made, codec_options=WRITING)
    except OverflowError as error:
        raise NoDocument(BAD_VALUE, "an integer of it does not fit into 64 bits") from error
    except DecimalException as error:
        raise NoDocument(BAD_VALUE, "a decimal of it has more than 34 digits, or is beyond Decimal128") from error
    except (BSONError, UnicodeEncodeError) as error:
        raise NoDocument(BAD_VALUE, str(error).removeprefix("Invalid document: ")) from error


def _pruned(value: Any, level: int) -> Any:
    """Return a value without the fields that are null.

    Args:
        value: a field of a document.
        level: the level that it would have if it were nested.
    """
    if not isinstance(value, dict | list):
        return value
    if level > MOST_LEVELS:
        raise NoDocument(BAD_VALUE, f"it is nested deeper than {MOST_LEVELS} levels")
    if isinstance(value, list):
        return [_pruned(one, level + 1) for one in value]
    return {name: _pruned(one, level + 1) for name, one in value.items() if one is not None}


def row_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in types that Glue knows.

    ObjectIds are texts of 24 hexadecimal digits, Decimal128 is a decimal, integers of both widths are one type, regular
    expressions and scripts are texts, and times that are out of reach are ISO 8601 text where there is one for them.
    """
    return {name: _plain(value) for name, value in document.items()}


def _plain(value: Any) -> Any:
    match value:
        case str() | bool() | float() | None | datetime():
            return str(value) if isinstance(value, Code) else value
        case Int64():
            return int(value)
        case int():
            return value
        case ObjectId():
            return str(value)
        case dict():
            return row_of(value)
        case list():
            return [_plain(one) for one in value]
        case Decimal128():
            return _decimal(value.to_decimal())
        case Binary():
            return bytes(value)
        case Timestamp():
            return datetime.fromtimestamp(value.time, UTC)
        case DBRef():
            return row_of(value.as_doc())
        case Regex():
            return value.pattern
        case DatetimeMS():
            return int(value)
        case MinKey() | MaxKey():
            return type(value).__name__
        case _:
            return value


def _decimal(value: Decimal) -> Decimal | float:
    return value if value.is_finite() else float(value)
