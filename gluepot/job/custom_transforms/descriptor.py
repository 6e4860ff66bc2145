"""What the JSON file of a custom visual transform says."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from gluepot.core.errors import ConfigError
from gluepot.core.patterns.expressions import expression
from gluepot.core.patterns.syntax import Invalid

_Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
# Named groups, which Python spells `(?P<name>`; what follows `<` in a look-behind is no name.
_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")
# What the JSON says for the editor only is left out.
_AS_IN_JSON = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class Option(BaseModel):
    """One of the values a parameter may have."""

    model_config = _AS_IN_JSON

    value: Any


class Parameter(BaseModel):
    """A parameter of the function."""

    model_config = _AS_IN_JSON

    name: _Identifier
    type: Literal["str", "int", "float", "list", "bool"]
    is_optional: bool = False
    validation_type: Literal["RegularExpression"] | None = None
    validation_rule: str | None = None
    validation_message: str = ""
    list_options: tuple[Option, ...] | str | None = None
    list_type: Literal["str", "int", "float", "bool"] | None = None

    @field_validator("validation_rule")
    @classmethod
    def _compiles(cls, rule: str | None) -> str | None:
        if rule is not None:
            try:
                expression(as_python(rule))
            except Invalid as wrong:
                raise ValueError(f"{rule!r} is not a regular expression: {wrong}") from wrong
        return rule

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """The values there are to choose from; None for any, as for the names of columns."""
        match self.list_options:
            case None | "column":
                return None
            case str() as text:
                return tuple(part.strip() for part in text.split(","))
            case options:
                return tuple(option.value for option in options)


class Descriptor(BaseModel):
    """A custom visual transform."""

    model_config = _AS_IN_JSON

    name: _Identifier
    function_name: _Identifier
    path: str | None = None
    parameters: tuple[Parameter, ...] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> Descriptor:
        names = [one.name for one in self.parameters]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"parameters has {', '.join(twice)} twice")
        return self


def parse_descriptor(file: str, text: str | bytes) -> Descriptor:
    """Read a descriptor.

    Args:
        file: its name, for messages.
        text: JSON.

    Raises:
        ConfigError: it is no JSON, or a field is absent or wrong; the message names the field.
    """
    try:
        return Descriptor.model_validate_json(text)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        raise ConfigError(f"{file}: {_field(first['loc'])}{first['msg']}; see {_GUIDE}.") from wrong


def as_python(rule: str) -> str:
    """Return an ECMAScript regular expression in Python's spelling."""
    return _NAMED_GROUP.sub("(?P<", rule)


_GUIDE = "'Create a JSON config file' in the guide on custom visual transforms"


def _field(location: tuple[int | str, ...]) -> str:
    """Return `parameters[1].type: `; empty for the document as a whole."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return f"{path.removeprefix('.')}: " if path else ""
