"""The bookmark of a table or query, as a value and as the ledger stores it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn, Row
from gluepot.core.errors import CheckpointError
from gluepot.core.stored_json import UNFIT, parsed_json

KIND = "jdbc"
_VERSION = 1
_DIGEST_BYTES = 12


@dataclass(frozen=True, slots=True)
class JdbcState:
    """How far a table was read.

    Args:
        relation: the table's name in the database, or the query.
        key: the bookmark key.
        last: the key of the last row that was read; rows after it are new.
        window_from: value of the first column at which the overlap window before `last` begins; None without a window.
        seen: the rows in that window: digests of their keys, with the number of rows of each.
        rows: number of rows that the run read which saved this state.
        source: the options of the read without secrets, so that a command can plan the next one without the script.
    """

    relation: str
    key: Key
    last: Row
    window_from: str | None = None
    seen: Mapping[bytes, int] = field(default_factory=dict)
    rows: int = 0
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def position(self) -> str:
        """The position as text for people: `id = 100`."""
        return ", ".join(f"{name} = {text}" for name, text in zip(self.key.names, self.last, strict=True))

    def require(self, relation: str, key: Key) -> None:
        """Check that the state belongs to this read.

        Raises:
            CheckpointError: it belongs to another table or other keys, so new rows cannot be recognised.
        """
        if (self.relation, self.key) != (relation, key):
            raise CheckpointError(
                f"the bookmark belongs to {self.relation} by {_described(self.key)}, the script reads {relation} by"
                f" {_described(key)}; reset the bookmark, or give the source another transformation_ctx",
            )

    def to_body(self) -> str:
        """Return the JSON text for the ledger."""
        digests = b"".join(digest * count for digest, count in sorted(self.seen.items()))
        plain = {
            "kind": KIND,
            "version": _VERSION,
            "source": self.source,
            "relation": self.relation,
            "keys": [{**asdict(column), "family": column.family.value} for column in self.key.columns],
            "descending": self.key.descending,
            "last": self.last,
            "rows": self.rows,
            "window_from": self.window_from,
            "seen": base64.b64encode(digests).decode(),
        }
        return json.dumps(plain, ensure_ascii=False)


def state_of(bodies: Sequence[str]) -> JdbcState | None:
    """Return the state in the last of a bookmark's bodies; None if nothing was read yet.

    Raises:
        CheckpointError: it cannot be read, or belongs to another kind of source.
    """
    if not bodies:
        return None
    try:
        plain = parsed_json(bodies[-1])
        if plain["kind"] != KIND or plain["version"] != _VERSION:
            raise CheckpointError(
                f"a bookmark has kind {plain['kind']}, version {plain['version']}, but this source needs {KIND},"
                f" version {_VERSION}: reset it, or give the source a transformation_ctx of its own",
            )
        columns = tuple(KeyColumn(one["name"], one["type"], Family(one["family"])) for one in plain["keys"])
        digests = base64.b64decode(plain["seen"], validate=True)
        if len(digests) % _DIGEST_BYTES:
            raise ValueError(len(digests))
        seen = Counter(digests[at : at + _DIGEST_BYTES] for at in range(0, len(digests), _DIGEST_BYTES))
        key = Key(columns, plain["descending"])
        last, window_from = tuple(plain["last"]), plain["window_from"]
        return JdbcState(plain["relation"], key, last, window_from, seen, plain["rows"], plain["source"])
    except UNFIT as error:
        raise CheckpointError(f"a bookmark beginning with {bodies[-1][:40]!r} cannot be read; reset it") from error


def digest_of(row: Row) -> bytes:
    """Return a digest of a key: 96 bits, so that two of a million keys collide in one of 10^17 tables."""
    return hashlib.blake2b("\0".join(row).encode(), digest_size=_DIGEST_BYTES).digest()


def digests_of(rows: Iterable[tuple[Row, int]]) -> dict[bytes, int]:
    """Return the number of rows of each key, by the key's digest."""
    return {digest_of(row): count for row, count in rows}


def _described(key: Key) -> str:
    return f"{', '.join(key.names)} {'descending' if key.descending else 'ascending'}"
