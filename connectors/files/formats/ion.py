"""Ion, as text or binary: a struct is a record; its values have types of their own (docs/glue 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
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
        """Yield the records in order; a value that is no struct is an error.

        Raises:
            ConfigError: the library that reads Ion is not installed.
            PermanentError: the file is no Ion, or was not written to its end.
        """
        for some in gathered(_values(file), _BATCH_ROWS):
            records = [value for value in some if isinstance(value, dict)]
            errors = [_no_struct(value, file) for value in some if not isinstance(value, dict)]
            yield Chunk(batch_from_objects(records), errors)


def _values(file: OpenFile) -> Iterator[tuple[Any, int]]:
    try:
        from amazon.ion import simpleion  # noqa: PLC0415  an extra
        from amazon.ion.exceptions import IonException  # noqa: PLC0415
        from amazon.ion.simple_types import IonPyNull  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigError("Reading Ion needs amazon.ion; install gluepot[ion].") from error
    models = simpleion.IonPyValueModel
    model = models.MAY_BE_BARE | models.SYMBOL_AS_TEXT | models.STRUCT_AS_STD_DICT
    source = BoundedReads(file.plain, file.place, _MOST_RECORD_BYTES)
    try:
        values = simpleion.load(cast("BinaryIO", source), single_value=False, parse_eagerly=False, value_model=model)
        for value in values:
            yield _plain(value, IonPyNull), source.completed() * _GROWTH
    except IonException as error:
        raise source.refusal or PermanentError(
            f"{file.place} is no Ion, or was not written to its end ({error}); write it again, or leave it out with"
            " exclusions"
        ) from error


def _plain(value: Any, null: type) -> Any:
    match value:
        case dict():
            return {name: _plain(inner, null) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner, null) for inner in value]
        case datetime():  # one without a zone has an unknown offset, which Ion defines as UTC
            return datetime(*value.timetuple()[:6], value.microsecond, tzinfo=value.tzinfo or UTC)
        case _ if isinstance(value, null):
            return None
    return value


def _no_struct(value: object, file: OpenFile) -> ErrorRecord:
    message = f"The value is of type {type(value).__name__}, not a struct."
    return ErrorRecord(str(value).encode(), "no_record", message, Coordinates(file.place, file.partition))
