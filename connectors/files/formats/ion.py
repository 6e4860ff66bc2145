"""Ion, as text or binary: a struct is a record; its values have types of their own (docs/glue 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, BinaryIO, cast

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import BoundedReads, gathered
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.objects import batch_from_objects

_BATCH_ROWS = 10_000
# The library builds a value as it reads it, whatever it takes. A null of one byte becomes an object of some 60 bytes.
_MOST_RECORD_BYTES = 4 << 20
_GROWTH = 64
# What decimals of Spark hold.
_MOST_DIGITS = 38
# An integer of more bits is beyond the range of a double, where columns of integers and doubles meet.
_MOST_BITS = 1023
# What the library (0.15) says of a string, a symbol or a clob of more than 16 KiB in text, and of a blob of 21 KiB.
_TOO_LONG = {"IERR_BUFFER_TOO_SMALL", "IERR_TOKEN_TOO_LONG", "IERR_LOOKAHEAD_OVERFLOW"}
# Years of which a part may not be within the years of Python in UTC.
_ENDS = {1, 9999}
# The exponent of a fraction of nine zeros.
_LIBRARY_ZERO = -9
# A second with a fraction of more than nine digits in text; month to second before an exponent below -9 in binary.
_LONG_FRACTION = re.compile(
    rb":\d\d\.\d{10}|[\x81-\x8c][\x81-\x9f][\x80-\x97][\x80-\xbb]{2}(?:[\xca-\xff]|[\x40-\x7f][\x80-\xff])"
)
# Values of these classes are taken as they are.
_PLAIN = frozenset({str, bool, float, bytes, type(None)})


@dataclass(frozen=True, slots=True)
class IonInputFormat:
    """The reader; it has no settings."""

    @property
    def needs_seek(self) -> bool:
        """Read from start to end."""
        return False

    @property
    def splits(self) -> bool:
        """Symbols are declared on the way."""
        return False

    def reader(self) -> IonInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order. A value that is not a struct, or that no column can hold, is an error.

        Raises:
            ConfigError: the library that reads Ion is not installed.
            PermanentError: the file is not Ion, or was not written to its end.
        """
        for some in gathered(_values(file), _BATCH_ROWS):
            records = [value for value in some if not isinstance(value, _Refused)]
            errors = [value.error(file) for value in some if isinstance(value, _Refused)]
            yield Chunk(batch_from_objects(records), errors)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A value that does not become a record.

    Args:
        value: as text.
        reason: one word.
        message: one sentence for a person.
    """

    value: str
    reason: str
    message: str

    def error(self, file: OpenFile) -> ErrorRecord:
        return ErrorRecord(self.value.encode(), self.reason, self.message, Coordinates(file.place, file.partition))


class _Seen:
    """Remembers the newest bytes of a stream: those of the value that was completed last, and some more."""

    def __init__(self, plain: BinaryIO) -> None:
        self._plain = plain
        self._newest: list[bytes] = []

    def read(self, size: int) -> bytes:
        """Read on."""
        data = self._plain.read(size)
        if data:
            self._newest.append(data)
        return data

    def forget(self) -> None:
        """Forget all but the newest bytes, which may have the beginning of the next value."""
        del self._newest[:-1]

    def may_have_long_fraction(self) -> bool:
        """Tell whether a second of more than nine digits may be among the newest bytes."""
        return _LONG_FRACTION.search(b"".join(self._newest)) is not None


class _UnfitError(ValueError):
    """No column can hold the value."""


def _values(file: OpenFile) -> Iterator[tuple[dict[str, Any] | _Refused, int]]:
    try:
        from amazon.ion import simpleion  # noqa: PLC0415  an extra
        from amazon.ion.exceptions import IonException  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigError("Reading Ion needs amazon.ion; install gluepot[ion].") from error
    # Symbols are no text yet, because the library gives up the file at a symbol without text.
    model = simpleion.IonPyValueModel.MAY_BE_BARE | simpleion.IonPyValueModel.STRUCT_AS_STD_DICT
    seen = _Seen(file.plain)
    source = BoundedReads(cast("BinaryIO", seen), file.place, _MOST_RECORD_BYTES)
    plain = _Plain.of_library(seen)
    try:
        values = simpleion.load(cast("BinaryIO", source), single_value=False, parse_eagerly=False, value_model=model)
        for value in values:
            yield plain.record(value), source.completed() * _GROWTH
            seen.forget()
    except IonException as error:
        raise source.refusal or _unread(file.place, str(error)) from error


def _unread(place: str, reason: str) -> PermanentError:
    if reason.strip() in _TOO_LONG:
        return PermanentError(
            f"{place} has a value of 16 KiB or more in Ion's text encoding, which amazon.ion does not read; write the"
            " file as binary Ion."
        )
    return PermanentError(
        f"{place} is not valid Ion, or was not written to its end ({reason}); write it again, or skip it with"
        " exclusions"
    )


@dataclass(frozen=True, slots=True)
class _Plain:
    """Turns values of the library into plain ones of Python. One with annotations has a class of the library's own.

    Args:
        null: the class of nulls with a type or annotations.
        flag: the class of booleans with annotations; it is an integer, because nothing can extend Python's.
        symbol: the class of symbols.
        seen: the bytes of the file.
    """

    null: type
    flag: type
    symbol: type
    seen: _Seen

    @classmethod
    def of_library(cls, seen: _Seen) -> _Plain:
        from amazon.ion.simple_types import IonPyBool, IonPyNull  # noqa: PLC0415  an extra
        from amazon.ion.symbols import SymbolToken  # noqa: PLC0415

        return cls(IonPyNull, IonPyBool, SymbolToken, seen)

    def record(self, value: Any) -> dict[str, Any] | _Refused:
        """Return a value of the file as a record."""
        if not isinstance(value, dict):
            return _Refused(_text(value), "no_record", f"The value is of type {type(value).__name__}, not a struct.")
        try:
            return self._struct(value)
        except _UnfitError as unfit:
            return _Refused(_text(value), "unfit_value", str(unfit))

    def _struct(self, value: dict[Any, Any]) -> dict[str, Any]:
        if None in value:
            raise _UnfitError("The name of a field is a symbol without a text. Name the field.")
        return {name: inner if type(inner) in _PLAIN else self._value(inner) for name, inner in value.items()}

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if kind is int:
            return value if value.bit_length() <= _MOST_BITS else _integer(value)
        if kind is dict:
            return self._struct(value)
        if isinstance(value, datetime):
            if _may_lack_fraction(value) and self.seen.may_have_long_fraction():
                raise _UnfitError(f"The second of a timestamp about {value.isoformat()} has more than nine digits.")
            return _timestamp(value)
        if isinstance(value, Decimal):
            return _decimal(value)
        if isinstance(value, list) or kind is tuple:  # a symbol is a tuple, too
            return [inner if type(inner) in _PLAIN else self._value(inner) for inner in value]
        return self._special(value)

    def _special(self, value: Any) -> Any:
        """Return a symbol, or a value with annotations."""
        if isinstance(value, self.symbol):
            if value.text is None:  # type: ignore[attr-defined]
                raise _UnfitError("A symbol has no text: it is $0, or one of an import that the file lacks.")
            return str(value.text)  # type: ignore[attr-defined]
        if isinstance(value, self.flag):
            return bool(value)
        if isinstance(value, self.null):
            return None
        if isinstance(value, int):
            return _integer(value)
        return self._struct(value) if isinstance(value, dict) else value


def _text(value: Any) -> str:
    """Return a value as Ion text."""
    from amazon.ion import simpleion  # noqa: PLC0415  an extra

    try:
        return str(simpleion.dumps(value, binary=False, omit_version_marker=True))
    except Exception as error:  # noqa: BLE001  it is only shown, and the library cannot write all that it reads
        return f"a value that cannot be shown: {error}"


def _integer(value: int) -> int:
    if value.bit_length() > _MOST_BITS:
        raise _UnfitError(f"An integer has {value.bit_length()} bits. Integers beyond {_MOST_BITS} bits are not read.")
    return int(value)


def _may_lack_fraction(value: Any) -> bool:
    """Return whether the library (0.15) may have taken a fraction of more than nine digits for nine zeros."""
    if value.microsecond:
        return False
    fraction = value.fractional_seconds
    return not fraction and fraction.as_tuple().exponent == _LIBRARY_ZERO


def _timestamp(value: datetime) -> datetime:
    # One without a zone has an unknown offset, which Ion defines as UTC.
    zone = value.tzinfo or UTC
    plain = datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, zone
    )
    if value.year in _ENDS:
        try:
            return plain.astimezone(UTC)
        except OverflowError:
            message = f"The timestamp {plain.isoformat()} is not within the years 1 to 9999 in UTC."
            raise _UnfitError(message) from None
    return plain


def _decimal(value: Decimal) -> Decimal | str:
    """Return a decimal, or its text if a decimal of Spark's cannot hold it (docs/decisions/0063)."""
    _, digits, exponent = value.as_tuple()
    exponent = int(exponent)  # never the name of a special value: Ion has none
    if not value:
        return Decimal(0).scaleb(exponent) if -_MOST_DIGITS <= exponent < 0 else Decimal(0)
    scale, size = max(0, -exponent), max(len(digits), len(digits) + exponent)
    return Decimal(value) if max(scale, size) <= _MOST_DIGITS else str(value)
