"""Reads what a script asks of `EntityDetector` (docs/glue 13.6). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.entities.actions import REDACT_CHAR, REDACT_TEXT, Action, Rule
from gluepot.entities.entity_types import ENTITY_TYPES
from gluepot.entities.finding import Sensitivity
from gluepot.entities.missing_types import MISSING_TYPES

_KEYS = ("action", "sourceColumns", "sourceColumnsToExclude", "actionOptions")
_SIDES = ("numLeftCharsToExclude", "numRightCharsToExclude")
_OPTIONS = {
    Action.DETECT: (),
    Action.REDACT: ("redactText",),
    Action.PARTIAL_REDACT: ("redactChar", "matchPattern", *_SIDES),
    Action.SHA256_HASH: (),
}


def sensitivity(given: str) -> Sensitivity:
    """Return the sensitivity of a name.

    Raises:
        ConfigError: it is neither LOW nor HIGH.
    """
    try:
        return Sensitivity[given.strip().upper()]
    except (AttributeError, KeyError):
        raise ConfigError(f"detection_sensitivity is {given!r}; use LOW or HIGH.") from None


def fraction(name: str, given: Any) -> float:
    """Return a fraction.

    Raises:
        ConfigError: it is no number from 0 to 1.
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise ConfigError(f"{name} is {given!r}; give a number from 0 to 1.")
    return float(given)


def entities(given: Any) -> tuple[str, ...]:
    """Return the types of a list, each once.

    Raises:
        ConfigError: it is no list, it is empty, or a type in it cannot be found.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(f"The entity types are {given!r}; give a list of names, such as ['EMAIL', 'USA_SSN'].")
    if not given:
        raise ConfigError("The list of entity types is empty; name the types to look for, such as 'EMAIL'.")
    names = tuple(dict.fromkeys(given))
    _check_known(names)
    return names


def rules(given: Any) -> tuple[Rule, ...]:
    """Return the rules of a list of types, or of detection parameters.

    Args:
        given: a list of names, or `{type: [{"action": ..., "sourceColumns": [...], "actionOptions": {...}}]}`.

    Raises:
        ConfigError: a type cannot be found, or a parameter is wrong.
    """
    if not isinstance(given, Mapping):
        return tuple(Rule(name) for name in entities(given))
    if not given:
        raise ConfigError("The detection parameters are empty; name the types to look for, such as 'EMAIL'.")
    _check_known(tuple(given))
    found = tuple(rule for name, listed in given.items() for rule in _rules_of(name, listed))
    _check_one_mask(found)
    return found


def check_columns(found: Sequence[Rule], known: Sequence[str]) -> None:
    """Check the names of columns in the rules.

    Args:
        found: the rules.
        known: dotted names of all fields.

    Raises:
        ConfigError: there is no such column.
    """
    for rule in found:
        for name in (*(rule.columns or ()), *rule.excluded):
            if name not in known:
                there = f"there are {', '.join(known)}" if known else "there are no columns"
                raise ConfigError(
                    f"The detection parameters of {rule.entity} name the column {name!r}; {there}."
                    f"{did_you_mean(name, known)}"
                )


def _check_known(names: Sequence[Any]) -> None:
    missing = [name for name in names if name in MISSING_TYPES]
    unknown = [name for name in names if name not in ENTITY_TYPES and name not in MISSING_TYPES]
    if unknown:
        raise ConfigError(
            f"{_listed(unknown)} {'is no entity type' if len(unknown) == 1 else 'are no entity types'} that Gluepot "
            f"knows.{did_you_mean(str(unknown[0]), [*ENTITY_TYPES, *MISSING_TYPES])} docs/sensitive-data.md lists all; "
            "custom entity types are not supported yet."
        )
    if missing:
        raise ConfigError(
            f"{_listed(missing)} cannot be found here: {MISSING_TYPES[missing[0]]}. Take "
            f"{'it' if len(missing) == 1 else 'them'} out of the list, after you have made sure that other means hide "
            "such data; docs/sensitive-data.md lists what can be found."
        )


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(str(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _rules_of(name: str, listed: Any) -> Iterator[Rule]:
    if isinstance(listed, str | Mapping) or not isinstance(listed, Sequence) or not listed:
        raise ConfigError(f"The detection parameters of {name} are {listed!r}; give a list of actions.")
    for one in listed:
        if not isinstance(one, Mapping):
            raise ConfigError(f"An action for {name} is {one!r}; give a dict with the key 'action'.")
        if unknown := [key for key in one if key not in _KEYS]:
            raise ConfigError(
                f"An action for {name} has the key {unknown[0]!r}; use {', '.join(_KEYS)}."
                f"{did_you_mean(str(unknown[0]), _KEYS)}"
            )
        yield _rule(name, one)


def _rule(name: str, given: Mapping[str, Any]) -> Rule:
    try:
        action = Action(str(given.get("action")).upper())
    except ValueError:
        raise ConfigError(f"The action for {name} is {given.get('action')!r}; use {', '.join(Action)}.") from None
    if "sourceColumns" in given and "sourceColumnsToExclude" in given:
        raise ConfigError(f"The action for {name} has both sourceColumns and sourceColumnsToExclude; give one of them.")
    columns = _columns(name, "sourceColumns", given.get("sourceColumns", ["*"]))
    excluded = _columns(name, "sourceColumnsToExclude", given.get("sourceColumnsToExclude", []))
    options = given.get("actionOptions") or {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"actionOptions of {name} are {options!r}; give a dict.")
    if wrong := [key for key in options if key not in _OPTIONS[action]]:
        allowed = f"use {', '.join(_OPTIONS[action])}" if _OPTIONS[action] else "it takes none"
        raise ConfigError(f"{action} of {name} has the option {wrong[0]!r}; {allowed}.")
    rule = Rule(name, action, None if "*" in columns else columns, excluded)
    return Rule(*_fields(rule), *_mask(name, action, options))


def _fields(rule: Rule) -> tuple[str, Action, tuple[str, ...] | None, tuple[str, ...]]:
    return rule.entity, rule.action, rule.columns, rule.excluded


def _mask(name: str, action: Action, options: Mapping[str, Any]) -> tuple[str, str | None, int, int]:
    """Return the text, the pattern, and how many characters are left at the beginning and at the end."""
    if action is Action.REDACT:
        return str(options.get("redactText", REDACT_TEXT)), None, 0, 0
    if action is not Action.PARTIAL_REDACT:
        return "", None, 0, 0
    pattern = options.get("matchPattern") or None
    left, right = (_number(name, key, options.get(key)) for key in _SIDES)
    if pattern is not None and (left or right):
        raise ConfigError(
            f"PARTIAL_REDACT of {name} has matchPattern and numbers of characters to exclude; give one or the other."
        )
    if pattern is not None:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as wrong:
            raise ConfigError(
                f"matchPattern of {name} is {pattern!r}, which is not a regular expression: {wrong}."
            ) from wrong
    return str(options.get("redactChar") or REDACT_CHAR), pattern, left, right


def _number(name: str, key: str, given: Any) -> int:
    text = str(given if given is not None else 0).strip()
    if not text.isascii() or not text.isdigit():
        raise ConfigError(f"{key} of {name} is {given!r}; give an integer from 0 on.")
    return int(text)


def _columns(name: str, key: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise ConfigError(f"{key} of {name} is {given!r}; give a list of names of columns.")
    return tuple(given)


def _check_one_mask(found: Sequence[Rule]) -> None:
    """Check that no column has two ways of hiding the same type."""
    masking = [rule for rule in found if rule.action is not Action.DETECT]
    for at, one in enumerate(masking):
        for other in masking[:at]:
            if one.entity == other.entity and (shared := _shared(one, other)):
                raise ConfigError(
                    f"{other.action} and {one.action} of {one.entity} are both for {shared}; "
                    "give each column one of them."
                )


def _shared(one: Rule, other: Rule) -> str:
    if one.columns is None and other.columns is None:
        return "all columns" if not one.excluded and not other.excluded else "columns that neither excludes"
    named = [*(one.columns or ()), *(other.columns or ())]
    return next((f"the column {name!r}" for name in named if one.covers(name) and other.covers(name)), "")
