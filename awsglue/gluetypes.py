"""`awsglue.gluetypes`, as job scripts import it: the types of a DynamicFrame's schema (docs/glue 6.9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class DataType:
    """Base of all types.

    Args:
        properties: notes on a type, which are kept but not used.
    """

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        self.properties = dict(properties or {})

    @classmethod
    def typeName(cls) -> str:
        """Return the name of the type."""
        return cls.__name__.removesuffix("Type").lower()

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values, inner types included."""
        return {"dataType": self.typeName(), "properties": self.properties}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and self.jsonValue() == other.jsonValue()

    def __hash__(self) -> int:
        return hash(self.typeName())

    def __repr__(self) -> str:
        plain = {key: value for key, value in self.jsonValue().items() if key not in {"dataType", "properties"}}
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in plain.items())})"


class BinaryType(DataType):
    """Bytes."""


class BooleanType(DataType):
    """True or false."""


class ByteType(DataType):
    """An integer of 8 bits."""


class DateType(DataType):
    """A day."""


class DoubleType(DataType):
    """A floating point number of 64 bits."""


class FloatType(DataType):
    """A floating point number of 32 bits."""


class IntegerType(DataType):
    """An integer of 32 bits."""

    @classmethod
    def typeName(cls) -> str:
        """Return `int`."""
        return "int"


class LongType(DataType):
    """An integer of 64 bits."""


class NullType(DataType):
    """The type of a field without any value."""


class ShortType(DataType):
    """An integer of 16 bits."""


class StringType(DataType):
    """Text."""


class TimestampType(DataType):
    """An instant."""


class TimestampNTZType(DataType):
    """A date and time without a time zone."""


class UnknownType(DataType):
    """A type that is not known yet."""


class DecimalType(DataType):
    """A decimal number.

    Args:
        precision: number of all digits.
        scale: number of digits after the point.
        properties: see `DataType`.
    """

    def __init__(self, precision: int = 10, scale: int = 2, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.precision = precision
        self.scale = scale

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "precision": self.precision, "scale": self.scale}


class EnumType(DataType):
    """One of some texts."""

    def __init__(self, options: Iterable[str], properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.options = list(options)

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "options": self.options}


class ArrayType(DataType):
    """Values of one type, in order."""

    def __init__(self, elementType: DataType, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.elementType = elementType

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "elementType": self.elementType.jsonValue()}


class SetType(ArrayType):
    """Different values of one type."""


class MapType(DataType):
    """A map from text to values of one type."""

    def __init__(self, valueType: DataType, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.valueType = valueType

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "valueType": self.valueType.jsonValue()}


class ChoiceType(DataType):
    """One of several types.

    Args:
        choices: the types, of which no two have one name.
        properties: see `DataType`.
    """

    def __init__(self, choices: Iterable[DataType], properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.choices: dict[str, DataType] = {}
        for choice in choices:
            self.add(choice)

    def add(self, type: DataType) -> None:
        """Add a type.

        Raises:
            ValueError: the choice already has a type of that name.
        """
        if type.typeName() in self.choices:
            raise ValueError(f"the choice has a type {type.typeName()} already; merge the two.")
        self.choices[type.typeName()] = type

    def merge(self, type: DataType) -> None:
        """Add a type, or every type of a choice, and merge it with an existing type of the same name."""
        for one in type.choices.values() if isinstance(type, ChoiceType) else [type]:
            there = self.choices.get(one.typeName())
            self.choices[one.typeName()] = one if there is None else mergeDataTypes(there, one)

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "choices": [choice.jsonValue() for choice in self.choices.values()]}


class Field:
    """A field of a struct."""

    def __init__(self, name: str, dataType: DataType, properties: Mapping[str, Any] = {}) -> None:
        self.name = name
        self.dataType = dataType
        self.properties = dict(properties)

    def jsonValue(self) -> dict[str, Any]:
        """Return the field as plain values."""
        return {"name": self.name, "type": self.dataType.jsonValue(), "properties": self.properties}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and self.jsonValue() == other.jsonValue()

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.dataType!r})"


class StructType(DataType):
    """Fields by name, in order; the type of a record."""

    def __init__(self, fields: Iterable[Field] = (), properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self.fields: list[Field] = []
        for field in fields:
            self.add(field)

    def add(self, field: Field) -> StructType:
        """Add a field, or replace the field of that name, and return the struct."""
        names = [one.name for one in self.fields]
        if field.name in names:
            self.fields[names.index(field.name)] = field
        else:
            self.fields.append(field)
        return self

    def hasField(self, name: str) -> bool:
        """Tell whether there is a field of this name."""
        return any(field.name == name for field in self.fields)

    def getField(self, name: str) -> Field:
        """Return the field of this name.

        Raises:
            KeyError: there is no such field.
        """
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"no field '{name}'; there are {', '.join(field.name for field in self.fields)}")

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as plain values."""
        return {**super().jsonValue(), "fields": [field.jsonValue() for field in self.fields]}


def mergeDataTypes(a: DataType, b: DataType) -> DataType:
    """Return the type of a field with values of both types: structs are merged by field, other types to a choice."""
    if a == b or isinstance(b, NullType):
        return a
    if isinstance(a, NullType):
        return b
    if isinstance(a, StructType) and isinstance(b, StructType):
        merged = StructType(a.fields)
        for field in b:
            there = merged.getField(field.name).dataType if merged.hasField(field.name) else NullType()
            merged.add(Field(field.name, mergeDataTypes(there, field.dataType), field.properties))
        return merged
    if isinstance(a, ArrayType) and type(a) is type(b):
        return type(a)(mergeDataTypes(a.elementType, b.elementType))
    if isinstance(a, MapType) and isinstance(b, MapType):
        return MapType(mergeDataTypes(a.valueType, b.valueType))
    choice = ChoiceType([])
    choice.merge(a)
    choice.merge(b)
    return choice
