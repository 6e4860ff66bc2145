"""Grok patterns as regular expressions, with the standard set of Logstash's patterns (docs/glue 11.6).

The set comes from the data files of the package pygrok. Its code is not used, because it cannot repeat a field's name,
knows two of Glue's eight types, and lets a line take any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import regex

from gluepot.core.errors import ConfigError, did_you_mean

TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "byte": pa.int8(),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "short": pa.int16(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
}
"""What may stand behind a field's name, in Glue's words."""

_DROPPED = "UNWANTED"
_REFERENCE = re.compile(r"%\{(\w+)(?::([\w.@\[\]-]+))?(?::(\w+))?\}|\(\?<(?![=!])(\w+)>")
# Patterns of patterns double with each level. The standard ones are five levels deep.
_MOST_LEVELS = 30
_MOST_CHARACTERS = 200_000
# A pattern may try ever more ways to fit a line. Lines that fit take microseconds.
_LINE_SECS = 1.0
# What Glue lists beside the patterns of the package.
_FURTHER = {
    "DATESTAMP_US": "%{DATE_US}[- ]%{TIME}",
    "DATESTAMP_EU": "%{DATE_EU}[- ]%{TIME}",
    "CISCOTIMESTAMP": "%{MONTH} +%{MONTHDAY}(?: %{YEAR})? %{TIME}",
    "MESSAGESLOG": "%{SYSLOGBASE} %{DATA}",
    "BOOLEAN": "(?i:true|false)",
    "HOST": "%{HOSTNAME}",
    "COMMONAPACHELOG_DATATYPED": (
        r'%{IPORHOST:clientip} %{USER:ident} %{USER:auth} \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb} '
        r'%{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion:float})?|%{DATA:rawrequest})" %{NUMBER:response:int} '
        r"(?:%{NUMBER:bytes:long}|-)"
    ),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a pattern.

    Args:
        name: its name.
        type: a key of `TYPES`.
        groups: the groups of the expression that may hold its value; the first that does counts.
    """

    name: str
    type: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrokPattern:
    """A pattern, ready to match.

    Args:
        expression: compiled.
        fields: in the order of their first place in the pattern.
    """

    expression: Any
    fields: tuple[Field, ...]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the records."""
        return pa.schema([(one.name, TYPES[one.type]) for one in self.fields])

    def match(self, line: str, *, whole: bool = False) -> dict[str, str | None] | None:
        """Return the values of a line by the names of their fields; None if the line does not fit.

        A line that takes longer than a second does not fit, either.

        Args:
            line: without its end.
            whole: nothing may stand before or behind what fits.
        """
        try:
            search = self.expression.fullmatch if whole else self.expression.search
            found = search(line, timeout=_LINE_SECS)
        except TimeoutError:
            return None
        if found is None:
            return None
        return {
            one.name: next((text for group in one.groups if (text := found[group]) is not None), None)
            for one in self.fields
        }


@lru_cache(maxsize=256)
def grok_pattern(text: str, customs: str = "") -> GrokPattern:
    """Compile a pattern.

    Args:
        text: such as `%{IP:client} %{GREEDYDATA:message}`.
        customs: patterns of one's own, one a line: a name, a space and the pattern.

    Raises:
        ConfigError: a name or a type is not known, a pattern contains itself, or it is not a regular expression.
    """
    known = {**standard_patterns(), **_read(customs.splitlines())}
    fields: dict[str, Field] = {}
    expression = _expanded(text, known, fields, 0)
    try:
        compiled = regex.compile(expression)
    except (regex.error, RecursionError) as error:
        raise ConfigError(f"The grok pattern {text!r} is not a regular expression ({error}); correct it.") from error
    return GrokPattern(compiled, tuple(one for one in fields.values() if one.name != _DROPPED))


@lru_cache(maxsize=1)
def standard_patterns() -> Mapping[str, str]:
    """Return the standard patterns by their names.

    Raises:
        ConfigError: the package that has them is not installed.
    """
    # Importing the package would run its code.
    found = find_spec("pygrok")
    if found is None or found.origin is None:
        raise ConfigError("Grok patterns need the package pygrok; reinstall gluepot.")
    known: dict[str, str] = {}
    for path in sorted((Path(found.origin).parent / "patterns").iterdir()):
        known.update(_read(path.read_text(encoding="utf-8").splitlines()))
    return {**known, **_FURTHER}


def _read(lines: list[str]) -> dict[str, str]:
    read = (line.strip().partition(" ") for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return {name: pattern.strip() for name, _, pattern in read}


def _expanded(text: str, known: Mapping[str, str], fields: dict[str, Field], level: int) -> str:
    if level > _MOST_LEVELS:
        raise ConfigError(f"The grok pattern {text!r} contains itself; correct the custom patterns.")

    def replaced(found: re.Match[str]) -> str:
        name, field, kind, group = found.groups()
        if group is not None:
            return f"(?P<{_group(group, 'string', fields)}>"
        if name not in known:
            raise ConfigError(f"The grok pattern {name} is not known; add it.{did_you_mean(name, known)}")
        if field is None:
            return f"(?:{_expanded(known[name], known, fields, level + 1)})"
        own = _group(field, kind or "string", fields)
        return f"(?P<{own}>{_expanded(known[name], known, fields, level + 1)})"

    expanded = _REFERENCE.sub(replaced, text)
    if len(expanded) > _MOST_CHARACTERS:
        raise ConfigError(f"A grok pattern grows to more than {_MOST_CHARACTERS:,} characters; make it smaller.")
    return expanded


def _group(name: str, kind: str, fields: dict[str, Field]) -> str:
    if kind not in TYPES:
        raise ConfigError(f"The grok field {name} has the type {kind!r}; use one of {', '.join(TYPES)}.")
    group = f"g{sum(len(one.groups) for one in fields.values())}"
    held = fields.get(name, Field(name, kind, ()))
    fields[name] = Field(name, held.type, (*held.groups, group))
    return group
