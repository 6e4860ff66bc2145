"""Values of rows as attributes of items, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gluepot.connectors.json_values import iso_text

MOST_DIGITS = 38
_LARGEST, _SMALLEST = Decimal("9.9999999999999999999999999999999999999E+125"), Decimal("1E-130")
_INT64 = range(-(2**63), 2**63)


class NoAttribute(ValueError):
    """A value that no attribute can hold; the text is a clause such as `price is NaN, which no number can be`."""


def item_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the item of a row.

    Text, booleans and bytes are what they are; numbers keep all their digits; dates and times are ISO 8601 text, times
    with a zone in UTC; lists are lists, structs and maps are maps, without fields that are null.

    Args:
        fields: the row's values, without those that are null; see `Document`.

    Raises:
        NoAttribute: a value fits no attribute.
    """
    return {name: _attribute(value, name) for name, value in fields.items()}


def _attribute(value: Any, path: str) -> dict[str, Any]:
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | float() | Decimal():
            return {"N": _number(value, path)}
        case bytes():
            return {"B": value}
        case datetime():
            return {"S": iso_text(value)}
        case date():
            return {"S": value.isoformat()}
        case list():
            return {"L": [_attribute(one, f"{path}[{at}]") for at, one in enumerate(value)]}
        case dict():
            return {
                "M": {str(name): _attribute(one, f"{path}.{name}") for name, one in value.items() if one is not None}
            }
        case _:
            return {"S": str(value)}


def _number(value: float | Decimal, path: str) -> str:
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise NoAttribute(f"{path} is {value}, which no number of DynamoDB can be")
    digits = len("".join(map(str, number.as_tuple().digits)).rstrip("0"))
    if digits > MOST_DIGITS:
        raise NoAttribute(f"{path} has {digits} digits, and a number of DynamoDB has {MOST_DIGITS} at most")
    if number and not _SMALLEST <= abs(number) <= _LARGEST:
        raise NoAttribute(f"{path} is {value}, which is beyond the numbers of DynamoDB")
    return format(number, "f") if -MOST_DIGITS < number.adjusted() < MOST_DIGITS else str(number)


def row_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an item: integers that fit are integers, others doubles, or decimals to keep all digits.

    A set becomes a list, and a map becomes a struct.
    """
    return {name: _value(attribute) for name, attribute in item.items()}


def _value(attribute: Mapping[str, Any]) -> Any:
    ((kind, held),) = attribute.items()
    match kind:
        case "N":
            return _plain_number(held)
        case "NS":
            return [_plain_number(one) for one in held]
        case "L":
            return [_value(one) for one in held]
        case "M":
            return row_of(held)
        case "NULL":
            return None
        case "SS" | "BS":
            return list(held)
        case _:
            return held


def _plain_number(text: str) -> int | float | Decimal:
    number = Decimal(text)
    if number == number.to_integral_value() and int(number) in _INT64:
        return int(number)
    nearest = float(number)
    return nearest if Decimal(repr(nearest)) == number else number
