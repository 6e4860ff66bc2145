"""What a connections file may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gluepot.catalog.connections.connection import Connection, Connections
from gluepot.catalog.connections.kinds import check
from gluepot.core.errors import ConfigError


def parse(plain: object, source: Path) -> Connections:
    """Check the plain content of a connections file. Values are never quoted in an error: they may be secrets.

    Raises:
        ConfigError: an unknown key, type or property, or a value of the wrong kind.
    """
    try:
        entries = _Content.model_validate({} if plain is None else plain).connections
    except ValidationError as error:
        raise ConfigError(f"{source}: {_first_problem(error)}") from None
    connections = {name: Connection(name, entry.type, entry.properties) for name, entry in entries.items()}
    for connection in connections.values():
        check(connection, source)
    return Connections(connections, source)


def _as_text(value: object) -> object:
    """Glue's property values are strings; YAML reads an unquoted `false` or `9092` as something else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Annotated[str, BeforeValidator(_lower)]
    properties: dict[str, Annotated[str, BeforeValidator(_as_text)]]


class _Content(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    connections: dict[str, _Entry] = Field(default_factory=dict)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    return f"{where}: {first['msg']}; write connections: {{name: {{type: kafka, properties: {{NAME: value}}}}}}"
