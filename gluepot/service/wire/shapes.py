"""Checks values against the shapes of AWS's own model of the Glue API, which comes with botocore."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape

from gluepot.service.errors import ServiceError

# In Java these two halves stand for all characters outside the Basic Multilingual Plane.
_JAVA_ASTRAL = "\\uD800\\uDC00-\\uDBFF\\uDFFF"
_ASTRAL = "\U00010000-\U0010ffff"
# AWS lets it match texts of several lines, such as schemas.
_NOT_BLANK = r".*\S.*"
_SHOWN_CHARS = 200
# AWS takes worker types that its own model does not name; the operations know which.
_OPEN_ENUMERATIONS = frozenset({"WorkerType"})
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "blob": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "double": (int, float),
    "float": (int, float),
    "timestamp": (int, float),
    "list": (list,),
    "map": (dict,),
    "structure": (dict,),
}
_LARGEST: Mapping[str, float] = {
    "integer": 2**31 - 1,
    "long": 2**63 - 1,
    "float": sys.float_info.max,
    "double": sys.float_info.max,
    "timestamp": 253_402_300_799,  # the end of the year 9999
}
"""How far from 0 numbers may be. Nothing is as far as a NaN."""


@cache
def model_of(service: str) -> ServiceModel:
    """Return the model of a service of AWS: `glue` or `logs`."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


def operation(name: str, service: str = "glue") -> OperationModel | None:
    """Return the model of an operation; None if there is none of this name."""
    model = model_of(service)
    return model.operation_model(name) if name in model.operation_names else None


def error_name(code: str, service: str) -> str:
    """Return the name of the error that has a code in the model of a service; the code itself if none has it."""
    shapes = model_of(service).error_shapes
    return next((one.name for one in shapes if one.error_code == code), code)


def check_request(name: str, body: Mapping[str, Any], service: str = "glue") -> None:
    """Check the input of an operation. Members that the model does not know are let pass, as AWS does.

    Raises:
        ServiceError: `ValidationException`, in the words of AWS.
    """
    shape = model_of(service).operation_model(name).input_shape
    found = list(violations(shape, body)) if shape is not None else []
    if found:
        count = f"{len(found)} validation error{'s' if len(found) > 1 else ''} detected"
        raise ServiceError("ValidationException", f"{count}: {'; '.join(found)}")


def violations(shape: Shape, value: Any, path: str = "") -> Iterator[str]:
    """Yield what a value breaks of a shape: types, required members, enumerations, lengths, ranges, patterns.

    Args:
        shape: of the model.
        value: what `json.loads` returned.
        path: where the value is, as AWS spells it: `command.name`, `tags.1.member`.
    """
    if not _has_type(shape, value):
        yield _sentence(value, path, f"Member must be of type {shape.type_name}")
        return
    yield from _limits(shape, value, path)
    if isinstance(shape, StructureShape):
        yield from _members(shape, value, path)
    elif isinstance(shape, ListShape):
        for at, one in enumerate(value, 1):
            yield from violations(shape.member, one, f"{path}.{at}.member")
    elif isinstance(shape, MapShape):
        for key, one in value.items():
            yield from _limits(shape.key, key, f"{path}.{key}.key")
            yield from violations(shape.value, one, f"{path}.{key}.value")


def _has_type(shape: Shape, value: Any) -> bool:
    known = _PYTHON_TYPES.get(shape.type_name, (object,))
    is_known = isinstance(value, known) and (not isinstance(value, bool) or shape.type_name == "boolean")
    largest = _LARGEST.get(shape.type_name)
    return is_known and (largest is None or bool(-largest <= value <= largest))


def _members(shape: StructureShape, value: Mapping[str, Any], path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield _sentence(None, _below(path, name), "Member must not be null")
    for name, member in shape.members.items():
        if (one := value.get(name)) is not None:
            yield from violations(member, one, _below(path, name))


def _below(path: str, name: str) -> str:
    spelled = name[0].lower() + name[1:]
    return f"{path}.{spelled}" if path else spelled


def _limits(shape: Shape, value: Any, path: str) -> Iterator[str]:
    known = () if shape.name in _OPEN_ENUMERATIONS else shape.metadata.get("enum", ())
    if known and value not in known:
        yield _sentence(value, path, f"Member must satisfy enum value set: [{', '.join(known)}]")
    measured = value if shape.type_name in {"integer", "long", "double", "float"} else None
    what, size = ("value", measured) if measured is not None else ("length", _length(value))
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if size is not None and least is not None and size < least:
        yield _sentence(value, path, f"Member must have {what} greater than or equal to {least}")
    if size is not None and most is not None and size > most:
        yield _sentence(value, path, f"Member must have {what} less than or equal to {most}")
    pattern = shape.metadata.get("pattern")
    if pattern and isinstance(value, str) and (compiled := _compiled(pattern)) and not compiled.fullmatch(value):
        yield _sentence(value, path, f"Member must satisfy regular expression pattern: {pattern}")


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, (str, list, dict)) else None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern of the model; None for the one that needs classes which only Java has."""
    try:
        return re.compile(pattern.replace(_JAVA_ASTRAL, _ASTRAL), re.DOTALL if pattern == _NOT_BLANK else 0)
    except re.error:
        return None


def _sentence(value: Any, path: str, rule: str) -> str:
    shown = "null" if value is None else f"'{str(value)[:_SHOWN_CHARS]}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {rule}"
