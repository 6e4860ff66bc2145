"""The options of a stream as a script gives them, looked up and checked in one way for all sources."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from structlog.typing import FilteringBoundLogger

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.logging import get_logger
from gluepot.core.option_values import SeenOptions, truth

# Options of reads and writes of files that scripts put into the other one of the two dictionaries (docs/glue 5.1, 5.2).
_OF_FORMATS = frozenset(
    {
        "attachFilename", "attachTimestamp", "escaper", "jsonPath", "multiLine", "quoteChar", "rowTag", "separator",
        "skipFirst", "typeDrift", "useGlueParquetWriter", "withHeader", "withSchema", "writeHeader",
    }
)  # fmt: skip
_OF_CONNECTIONS = frozenset(
    {"compressionType", "exclusions", "groupFiles", "groupSize", "partitionKeys", "path", "paths", "recurse"}
)

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import DeclaredPayload, GrowingPayload


class PayloadSettings(Protocol):
    """What a script says of the payload."""

    @property
    def classification(self) -> str:
        """Format, lower case; empty when not given."""

    @property
    def infer_schema(self) -> bool:
        """True gives the magic column that DynamicFrame.fromDF expands."""

    @property
    def schema(self) -> str:
        """DDL or Avro schema, used when `infer_schema` is False; empty when not given."""

    @property
    def delimiter(self) -> str:
        """Of csv."""


Declare = Callable[[PayloadSettings, Sequence[str]], "DeclaredPayload | GrowingPayload | None"]
"""Returns how payloads are decoded, from settings and the names of the columns beside the payload; None where neither a
schema nor a registry is given."""


class ScriptOptions:
    """The script's options, looked up in any letter case, with errors that name option, value and what is allowed.

    Args:
        options: as the script gave them: strings, bools, ints and dicts.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._given = {name.lower(): (name, value) for name, value in options.items()}

    def text(self, name: str) -> str:
        """Return a value without the white space around it; empty when not given."""
        _, value = self._given.get(name.lower(), (name, None))
        if isinstance(value, dict):
            return json.dumps(value)
        return "" if value is None else str(value).strip()

    def raw(self, name: str) -> str:
        """Return the value with the white space around it, which may be all there is."""
        _, value = self._given.get(name.lower(), (name, None))
        return "" if value is None else str(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        if name.lower() not in self._given:
            return default
        text = self.text(name)
        said = truth(text) if text else False
        if said is None:
            raise ConfigError(f"{name} is {text!r}; use true or false.")
        return said

    def count(self, name: str) -> int | None:
        """Return an integer above 0; None when not given."""
        text = self.text(name)
        if not text:
            return None
        if text.isdecimal() and int(text) > 0:
            return int(text)
        raise ConfigError(f"{name} is {text!r}; use an integer above 0, or omit it.")

    def delimiter(self) -> str:
        r"""Return the option `delimiter`: one character, as it is or escaped: `\t`, `\u0001`."""
        text = self.raw("delimiter") or ","
        escaped = re.fullmatch(r"\\(?:t|u([0-9a-fA-F]{4}))", text)
        if escaped:
            text = chr(int(escaped[1], 16)) if escaped[1] else "\t"
        if len(text) == 1 and text not in '"\r\n':
            return text
        raise ConfigError(f"delimiter is {text!r}; use one character other than a quote, for example , or | or \\t.")

    def warn_unknown(self, known: Sequence[str], harmless: Collection[str] = (), prefix: str | None = None) -> None:
        """Warn of unknown options.

        Args:
            known: names that mean something.
            harmless: lower-case names that are seen in scripts and have no effect here.
            prefix: of names that are passed on.
        """
        understood = {name.lower() for name in known} | set(harmless)
        for lower, (name, _) in self._given.items():
            if lower not in understood and not (prefix and lower.startswith(prefix)):
                _warn_ignored(get_logger(__name__), name, known)


def warn_ignored(log: FilteringBoundLogger, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Warn of unknown options of a read or a write, with the name that was probably meant.

    Args:
        log: of the module whose options they are.
        options: as a script gives them.
        known: names that mean something, letter by letter.
    """
    for name in options.keys() - set(known):
        _warn_ignored(log, name, known, "format_options" if name.partition(".")[0] in _OF_FORMATS else "")


def warn_unseen(log: FilteringBoundLogger, options: SeenOptions, harmless: Collection[str] = ()) -> None:
    """Warn of options that no reader or writer used, with the name that was probably meant.

    Args:
        log: of the module whose options they are.
        options: after the reader or writer was made.
        harmless: names that have no effect here and change no data.
    """
    for name in options.ignored(harmless):
        place = "connection_options" if name in _OF_CONNECTIONS else ""
        _warn_ignored(log, name, sorted(options.asked, reverse=True), place)  # of two spellings, the one with capitals


def _warn_ignored(log: FilteringBoundLogger, name: str, known: Collection[str], place: str = "") -> None:
    hint = f"move it to {place}" if place else did_you_mean(name, known).strip()
    log.warning("option_ignored", option=name, hint=hint)


def epoch_ms(name: str, text: str) -> int:
    """Read Glue's `yyyy-mm-ddTHH:MM:SSZ` (zone Z or +hh:mm), or Spark's epoch milliseconds."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise ConfigError(f"{name} is {text!r}; use a time such as 2026-01-31T12:00:00Z.") from wrong
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
