"""Whether the arguments of a call fit the descriptor of its transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.patterns.expressions import expression
from gluepot.job.custom_transforms.descriptor import Descriptor, Parameter, as_python


def check_arguments(descriptor: Descriptor, given: Mapping[str, Any]) -> None:
    """Hold arguments against the descriptor; None stands for one that is left out.

    Raises:
        ConfigError: one is absent, unknown, of another type, none of the options, or breaks the rule; named.
    """
    name = descriptor.name
    known = {one.name: one for one in descriptor.parameters}
    for argument in given:
        if argument not in known:
            hint = did_you_mean(argument, known)
            raise ConfigError(f"{name} has no parameter {argument!r}; it has {', '.join(known) or 'none'}.{hint}")
    for one in descriptor.parameters:
        value = given.get(one.name)
        if value is not None:
            _check(f"{name}: parameter {one.name!r}", one, value)
        elif not one.is_optional:
            raise ConfigError(f"{name}: parameter {one.name!r} is not given; it is required.")


def _check(where: str, parameter: Parameter, value: Any) -> None:
    if not _is_a(parameter.type, value):
        raise ConfigError(f"{where} is {value!r}, of type {type(value).__name__}; it takes {parameter.type}.")
    values: Sequence[Any] = value if parameter.type == "list" else [value]
    for one in values:
        if parameter.type == "list" and parameter.list_type and not _is_a(parameter.list_type, one):
            raise ConfigError(f"{where} has {one!r}, of type {type(one).__name__}; it takes {parameter.list_type}.")
        # Options that are written as one text with commas are texts, whatever the type.
        if (choices := parameter.choices) is not None and one not in choices and str(one) not in choices:
            raise ConfigError(f"{where} has {one!r}; use {', '.join(map(str, choices))}.")
        rule = parameter.validation_rule
        if rule is not None and not expression(as_python(rule)).occurs(str(one)):
            said = parameter.validation_message or f"It must match {rule}"
            raise ConfigError(f"{where} is {one!r}. {said.rstrip('.')}.")


def _is_a(kind: str, value: Any) -> bool:
    match kind:
        case "str":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return isinstance(value, list | tuple)
