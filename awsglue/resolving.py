"""How `toDF` resolves a choice (docs/glue 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ResolveOption:
    """How to resolve one choice.

    Args:
        path: path of the field.
        action: `Project` to keep one type, `KeepAsStruct` for a struct with one field for each type.
        target: the type of `Project`.
    """

    path: str
    action: str
    target: str | None = None


def as_spec(path: str, action: str, target: str | None) -> tuple[str, str]:
    """Return the option as a spec of `resolveChoice`.

    Raises:
        ConfigError: the action is unknown, or `Project` has no target. `Cast` is refused, too: Glue documents it but
            also refuses it.
    """
    match action.lower():
        case "keepasstruct":
            return path, "make_struct"
        case "project" if target:
            return path, f"project:{target}"
    raise ConfigError(
        f"ResolveOption('{path}', '{action}', {target!r}) is not known; use KeepAsStruct, or Project with a type as "
        "target, or call resolveChoice before toDF."
    )
