"""SQL text with separate values, which a driver binds; they do not become part of the statement's text here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A value that is passed separately from the statement.

    Args:
        text: the value as the database prints it.
        type: the database's name of its type.
    """

    text: str
    type: str


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of a statement."""

    parts: tuple[str | Bound, ...] = ()

    def __add__(self, other: Sql | str) -> Sql:
        return Sql((*self.parts, *(other.parts if isinstance(other, Sql) else (other,))))

    def __radd__(self, other: str) -> Sql:
        return Sql((other, *self.parts))

    @property
    def bounds(self) -> list[Bound]:
        """The values, in order."""
        return [part for part in self.parts if isinstance(part, Bound)]

    def render(self, placeholder: Callable[[int, Bound], str]) -> str:
        """Return the statement's text.

        Args:
            placeholder: returns the text that stands for the n-th value, counted from 0.
        """
        ordinals = iter(range(len(self.parts)))
        return "".join(placeholder(next(ordinals), part) if isinstance(part, Bound) else part for part in self.parts)


def sql(*parts: str | Bound | Sql) -> Sql:
    """Return the pieces as one statement."""
    made = Sql()
    for part in parts:
        made += Sql((part,)) if isinstance(part, Bound) else part
    return made


def joined(separator: str, pieces: Iterable[Sql]) -> Sql:
    """Return the pieces with a separator between them."""
    made = Sql()
    for nth, piece in enumerate(pieces):
        made = sql(made, separator if nth else "", piece)
    return made


def all_of(conditions: Iterable[Sql]) -> Sql:
    """Return the condition that all conditions are true; an empty one if there are none."""
    return joined(" AND ", (sql("(", condition, ")") for condition in conditions))


def any_of(conditions: Iterable[Sql]) -> Sql:
    """Return the condition that at least one condition is true; an empty one if there are none."""
    return joined(" OR ", (sql("(", condition, ")") for condition in conditions))
