"""Which events a rule is about: the event patterns of Amazon EventBridge. Pure.

A pattern has the form of the event, with a list of the wanted values in the place of each value. Of an event that has a
list there, one member of the list has to match.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from gluepot.core.patterns.wildcards import event_wildcard
from gluepot.core.stored_json import parsed_json

_OR = "$or"
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_NUMBER = 5e9


class PatternError(ValueError):
    """A pattern can match nothing, because it is not written as patterns are."""


MOST_STEPS = 200_000
"""Of comparing one event with all patterns. Nearly all take fewer than a hundred; these take less than a second."""


class TooManySteps(Exception):
    """An event and a pattern have so many values that comparing them would hold up the service."""


class Effort:
    """Counts the steps of comparing an event with patterns.

    Args:
        steps: how many there may be.
    """

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            TooManySteps: there were as many as there may be.
        """
        self._left -= steps
        if self._left < 0:
            raise TooManySteps


def parsed(text: str) -> Mapping[str, Any]:
    """Return a pattern.

    Raises:
        PatternError: it is none; the message says what is wrong.
    """
    try:
        found = parsed_json(text)
    except ValueError as error:
        raise PatternError(f"it is not JSON ({error})") from None
    if not isinstance(found, dict) or not found:
        raise PatternError("it is not an object with at least one field")
    _check(found, "")
    return found


def matches(pattern: Mapping[str, Any], event: Any, effort: Effort | None = None) -> bool:
    """Return whether an event is one that a pattern describes.

    Args:
        pattern: as `parsed` returned it.
        event: the event, or the part of it that is described here; None if the event does not have it.
        effort: counts the steps; None for those of this call alone.

    Raises:
        TooManySteps: it takes too long to find out.
    """
    effort = effort or Effort()
    effort.spend(1)
    if isinstance(event, list):
        return any(matches(pattern, one, effort) for one in event)
    fields = event if isinstance(event, dict) else {}
    return all(
        any(matches(one, event, effort) for one in wanted)
        if name == _OR
        else _field_matches(wanted, name, fields, effort)
        for name, wanted in pattern.items()
    )


def _field_matches(wanted: Any, name: str, fields: Mapping[str, Any], effort: Effort) -> bool:
    if isinstance(wanted, dict):
        return matches(wanted, fields.get(name), effort)
    if name not in fields:
        return {"exists": False} in wanted
    found = fields[name]
    if isinstance(found, dict):
        return False
    values = found if isinstance(found, list) else [found]
    plain = _distinct(wanted)
    if any(_is_among(value, plain) for value in values):
        return True
    return any(_any_filtered(one, values, effort) for one in wanted if isinstance(one, dict))


def _any_filtered(wanted: Mapping[str, Any], values: Sequence[Any], effort: Effort) -> bool:
    """Return whether one of the values passes a filter."""
    [(kind, what)] = wanted.items()
    effort.spend(len(values))
    if kind != "anything-but":
        return any(_value_matches(kind, what, value) for value in values)
    if isinstance(what, dict):
        [(inner, texts)] = what.items()
        excepted = texts if isinstance(texts, list) else [texts]
        effort.spend(len(values) * len(excepted))
        return any(not any(_value_matches(inner, one, value) for one in excepted) for value in values)
    plain = _distinct(what if isinstance(what, list) else [what])
    return any(not _is_among(value, plain) for value in values)


def _value_matches(kind: str, what: Any, value: Any) -> bool:
    match kind:
        case "exists":
            return bool(what)
        case "numeric":
            pairs = zip(what[::2], what[1::2], strict=True)
            return _is_number(value) and all(_COMPARED[compared](value, bound) for compared, bound in pairs)
        case "cidr":
            return _is_in_network(value, what)
        case _:
            return isinstance(value, str) and _text_matches(kind, what, value)


def _text_matches(kind: str, what: Any, value: str) -> bool:
    if isinstance(what, dict):
        what, value = what["equals-ignore-case"].lower(), value.lower()
    match kind:
        case "prefix":
            return value.startswith(what)
        case "suffix":
            return value.endswith(what)
        case "wildcard":
            return event_wildcard(what).matches(value)
        case _:
            return value.lower() == str(what).lower()


def _distinct(wanted: Sequence[Any]) -> set[tuple[bool, Any]]:
    """Return the plain values, so that an event with many values costs no more for a pattern with many."""
    return {(isinstance(one, bool), one) for one in wanted if not isinstance(one, dict)}


def _is_among(value: Any, plain: set[tuple[bool, Any]]) -> bool:
    # To Python, true is 1.
    return not isinstance(value, list | dict) and (isinstance(value, bool), value) in plain


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_in_network(value: Any, network: str) -> bool:
    try:
        return isinstance(value, str) and ip_address(value) in ip_network(network, strict=False)
    except ValueError:
        return False


def _check(pattern: Mapping[str, Any], path: str) -> None:
    for name, wanted in pattern.items():
        here = f"{path}.{name}" if path else name
        if name == _OR:
            if not isinstance(wanted, list) or len(wanted) < 2 or not all(isinstance(one, dict) for one in wanted):
                raise PatternError(f"{here} is not a list of at least two patterns")
            for one in wanted:
                _check(one, path)
        elif isinstance(wanted, dict) and wanted:
            _check(wanted, here)
        elif not isinstance(wanted, list) or not wanted:
            raise PatternError(f"{here} is neither an object nor a list with at least one value")
        else:
            for one in wanted:
                _check_value(one, here)


def _check_value(wanted: Any, path: str) -> None:
    if isinstance(wanted, list):
        raise PatternError(f"{path} has a list inside of its list")
    if not isinstance(wanted, dict):
        return
    if len(wanted) != 1:
        raise PatternError(f"{path} has a filter with {len(wanted)} kinds instead of one")
    [(kind, what)] = wanted.items()
    checked = _CHECKS.get(kind)
    if checked is None:
        raise PatternError(f"{path} has the filter {kind!r}; use one of {', '.join(_CHECKS)}")
    if not checked(what):
        raise PatternError(f"{path} has the filter {kind!r} with {json.dumps(what)}, which it cannot have")


def _is_text(what: Any) -> bool:
    return isinstance(what, str) and bool(what)


def _is_end(what: Any) -> bool:
    if isinstance(what, dict):
        return list(what) == ["equals-ignore-case"] and _is_text(what["equals-ignore-case"])
    return _is_text(what)


def _is_range(what: Any) -> bool:
    if not isinstance(what, list) or len(what) not in (2, 4):
        return False
    signs, bounds = what[::2], what[1::2]
    if not all(isinstance(sign, str) for sign in signs):
        return False
    if not all(_is_number(one) and abs(one) <= _MOST_NUMBER for one in bounds):
        return False
    if len(signs) == 1:
        return signs[0] in _COMPARED
    return signs[0] in {">", ">="} and signs[1] in {"<", "<="} and bounds[0] < bounds[1]


def _is_network(what: Any) -> bool:
    try:
        ip_network(what, strict=False)
    except ValueError:
        return False
    return isinstance(what, str)


def _is_exception(what: Any) -> bool:
    if isinstance(what, dict):
        return len(what) == 1 and next(iter(what)) in _EXCEPTED and _are_texts(next(iter(what.values())))
    values: Sequence[Any] = what if isinstance(what, list) else [what]
    return bool(values) and all(isinstance(one, str) or _is_number(one) for one in values)


def _are_texts(what: Any) -> bool:
    return all(map(_is_text, what)) and bool(what) if isinstance(what, list) else _is_text(what)


_EXCEPTED = ("prefix", "suffix", "equals-ignore-case", "wildcard")
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "prefix": _is_end,
    "suffix": _is_end,
    "equals-ignore-case": _is_text,
    "wildcard": _is_text,
    "anything-but": _is_exception,
    "numeric": _is_range,
    "cidr": _is_network,
    "exists": lambda what: isinstance(what, bool),
}
