"""Push-down predicates: SQL over partition columns, decided folder by folder, as soon as enough columns are known.

Understood is what the catalog's partition expressions know (docs/glue 11.4): `= == <> != < <= > >=`, AND, OR, NOT, IN,
BETWEEN, LIKE, IS NULL, parentheses; texts, numbers, true and false. Values of folders are texts: compared with a
number they are numbers, and null where they are none, as in Spark. If the type of a column is given, its values and
what they are compared with are values of this type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from gluepot.core.errors import ConfigError
from gluepot.core.patterns.wildcards import Wildcards, like


class Unknown(Enum):
    """What SQL does not have: a column whose value is not known yet."""

    UNDECIDED = "undecided"


UNDECIDED: Final = Unknown.UNDECIDED
Truth = bool | Unknown | None
Value = str | Decimal | bool | Unknown | None
Values = Mapping[str, str | None]
Types = Mapping[str, Callable[[str], Any]]
"""Turns a text into a value of a column, by the column's name in lower case; a ValueError makes it null."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?![\w.]))|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<name>`[^`]+`|[A-Za-z_][\w.]*)|(?P<sign><>|!=|<=|>=|==|=|<|>|\(|\)|,))"
)
COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "==": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}

# Expressions may be nested as deeply as this; people need less, and Python cannot read much more.
_DEEPEST: Final = 100
# A message repeats this many characters of a predicate.
_MOST_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate that was read.

    Args:
        text: as given.
        columns: it asks for, in lower case.
    """

    text: str
    columns: frozenset[str]
    _decide: Callable[[Values], Truth]

    def may_match(self, known: Values) -> bool:
        """Tell whether a folder can hold a match, knowing the values of some or all columns, names in lower case."""
        truth = self._decide(known)
        return truth is True or truth is UNDECIDED

    def matches(self, known: Values) -> bool:
        """Tell whether a folder matches; a column it does not have is null."""
        complete = {**dict.fromkeys(self.columns), **known}
        return self._decide(complete) is True

    def learn(self, rows: Iterable[Values]) -> None:
        """Do nothing: each folder is decided when it is asked for."""


def parse_predicate(text: str, types: Types | None = None) -> Predicate:
    """Read a predicate.

    Args:
        text: the predicate.
        types: of the columns that have one.

    Raises:
        ConfigError: it is not understood; the message says from where on.
    """
    reader = Reader(text, types or {})
    decide = reader.whole()
    return Predicate(text, frozenset(reader.columns), decide)


@dataclass(frozen=True, slots=True)
class Operand:
    """A column or a literal."""

    column: str | None
    literal: str | Decimal | bool | None = None

    def value(self, known: Values) -> Value:
        """Return the value for a folder."""
        if self.column is None:
            return self.literal
        return known.get(self.column, UNDECIDED)


class Reader:
    """Recursive descent over the tokens, giving functions."""

    def __init__(self, text: str, types: Types) -> None:
        self._text = text
        self._types = types
        self._tokens = list(_tokens(text))
        self._at = 0
        self._open = 0
        self.columns: set[str] = set()

    def whole(self) -> Callable[[Values], Truth]:
        """Read the whole text."""
        decide = self._either()
        if self._at < len(self._tokens):
            raise self._wrong()
        return decide

    def _either(self) -> Callable[[Values], Truth]:
        parts = [self._both()]
        while self._took("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda known: _any([part(known) for part in parts])

    def _both(self) -> Callable[[Values], Truth]:
        parts = [self._negated()]
        while self._took("and"):
            parts.append(self._negated())
        if len(parts) == 1:
            return parts[0]
        return lambda known: _not(_any([_not(part(known)) for part in parts]))

    def _negated(self, depth: int = 0) -> Callable[[Values], Truth]:
        if depth > _DEEPEST:
            raise ConfigError(f"The predicate {_shown(self._text)} has more than {_DEEPEST} times NOT in a row.")
        if self._took("not"):
            inner = self._negated(depth + 1)
            return lambda known: _not(inner(known))
        if not self._is_operand_next() and self._took("("):
            self._deeper()
            inner = self._either()
            self._need(")")
            self._open -= 1
            return inner
        return self._comparison()

    def _is_operand_next(self) -> bool:
        """Tell whether parentheses that open here hold an operand alone, as in `(n) = (1)`."""
        at = self._at
        while at < len(self._tokens) and self._tokens[at] == ("sign", "("):
            at += 1
        opened = at - self._at
        return opened > 0 and self._tokens[at + 1 : at + 1 + opened] == [("sign", ")")] * opened

    def _deeper(self) -> None:
        self._open += 1
        if self._open > _DEEPEST:
            raise ConfigError(f"The predicate {_shown(self._text)} has more than {_DEEPEST} parentheses in another.")

    def _comparison(self) -> Callable[[Values], Truth]:
        left = self.operand()
        if self._took("is"):
            wanted = not self._took("not")
            self._need("null")
            self.null_test(left)
            return lambda known: _is_null(left.value(known), wanted=wanted)
        negated = self._took("not")
        decide = self._set_or_range(left)
        return (lambda known: _not(decide(known))) if negated else decide

    def _set_or_range(self, left: Operand) -> Callable[[Values], Truth]:
        if self._took("in"):
            self._need("(")
            options = [self.operand()]
            while self._took(","):
                options.append(self.operand())
            self._need(")")
            self.one_of(left, options)
            return lambda known: _any([self.compared("=", left, one, known) for one in options])
        if self._took("between"):
            low = self.operand()
            self._need("and")
            high = self.operand()
            self.comparable(left, low)
            self.comparable(left, high)
            return lambda known: _not(
                _any([_not(self.compared(">=", left, low, known)), _not(self.compared("<=", left, high, known))])
            )
        if self._took("like"):
            pattern = self.operand()
            self.like(left, pattern)
            wanted = like(str(pattern.literal))
            return lambda known: _liked(left.value(known), wanted)
        sign = self._peek()
        if sign not in COMPARES:
            if left.column is None and isinstance(left.literal, bool):
                return lambda _: left.literal if isinstance(left.literal, bool) else None
            raise self._wrong()
        self._at += 1
        right = self.operand()
        self.comparable(left, right)
        return lambda known: self.compared(sign, left, right, known)

    def null_test(self, of: Operand) -> None:
        """Check the operand of IS NULL."""

    def one_of(self, left: Operand, options: Sequence[Operand]) -> None:
        """Check the operands of IN."""

    def like(self, left: Operand, pattern: Operand) -> None:  # noqa: ARG002  a stricter reader needs both
        """Check the operands of LIKE."""
        if pattern.column is not None:
            raise self._wrong()

    def comparable(self, left: Operand, right: Operand) -> None:
        """Check the operands of a comparison."""

    def compared(self, sign: str, left: Operand, right: Operand, known: Values) -> Truth:
        """Return the result of a comparison."""
        types = (self._types.get(one.column) for one in (left, right) if one.column is not None)
        return _compared(sign, left.value(known), right.value(known), next(filter(None, types), None))

    def operand(self) -> Operand:
        """Read a column or a literal, which may be in parentheses."""
        if self._took("("):
            self._deeper()
            inner = self.operand()
            self._need(")")
            self._open -= 1
            return inner
        if self._at >= len(self._tokens):
            raise self._wrong()
        kind, token = self._tokens[self._at]
        lowered = token.lower()
        self._at += 1
        match kind:
            case "number":
                return Operand(None, Decimal(token))
            case "text":
                return Operand(None, token[1:-1].replace(token[0] * 2, token[0]))
            case "name" if lowered in {"true", "false"}:
                return Operand(None, lowered == "true")
            case "name" if lowered not in {"and", "or", "not", "in", "between", "like", "is", "null"}:
                name = lowered.strip("`")
                self.columns.add(name)
                return Operand(name)
        self._at -= 1
        raise self._wrong()

    def _peek(self) -> str:
        return self._tokens[self._at][1].lower() if self._at < len(self._tokens) else ""

    def _took(self, word: str) -> bool:
        if self._peek() != word or self._tokens[self._at][0] == "text":
            return False
        self._at += 1
        return True

    def _need(self, word: str) -> None:
        if not self._took(word):
            raise self._wrong()

    def _wrong(self) -> ConfigError:
        rest = " ".join(token for _, token in self._tokens[self._at :]) or "its end"
        return ConfigError(
            f"The predicate {_shown(self._text)} is not understood from {_shown(rest)} on; use comparisons of"
            " partition columns with =, <, >, IN, BETWEEN, LIKE, IS NULL, joined by AND, OR, NOT.",
        )


def _shown(text: str) -> str:
    """Return a text for a message, cut off if it is long."""
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if not found or not found.lastgroup:
            raise ConfigError(f"The predicate {_shown(text)} is not understood from {_shown(text[at:].strip())} on.")
        yield found.lastgroup, found[found.lastgroup]
        at = found.end()


def _compared(sign: str, a: Value, b: Value, typed: Callable[[str], Any] | None) -> Truth:
    if a is UNDECIDED or b is UNDECIDED:
        return UNDECIDED
    if a is None or b is None:
        return None
    one: Any = str(a)
    other: Any = str(b)
    if typed is not None:
        one, other = _converted(one, typed), _converted(other, typed)
    elif isinstance(a, bool) or isinstance(b, bool):
        one, other = one.lower(), other.lower()
    elif isinstance(a, Decimal) or isinstance(b, Decimal):
        one, other = _converted(one, float), _converted(other, float)
    return None if one is None or other is None else COMPARES[sign](one, other)


def _converted(text: str, typed: Callable[[str], Any]) -> Any:
    try:
        return typed(text)
    except ValueError:
        return None


def _is_null(value: object, *, wanted: bool) -> Truth:
    return UNDECIDED if value is UNDECIDED else (value is None) == wanted


def _liked(value: object, pattern: Wildcards) -> Truth:
    if value is UNDECIDED:
        return UNDECIDED
    return None if value is None else pattern.matches(str(value))


def _not(truth: Truth) -> Truth:
    return (not truth) if isinstance(truth, bool) else truth


def _any(truths: list[Truth]) -> Truth:
    """SQL's OR; what is undecided may still become true, so it outweighs null."""
    if True in truths:
        return True
    if UNDECIDED in truths:
        return UNDECIDED
    return None if None in truths else False
