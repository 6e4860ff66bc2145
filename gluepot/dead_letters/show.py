"""Dead letters for people and for programs. Nothing of a record reaches the terminal as a control character."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.dead_letters.folder import LetterFolder
from gluepot.dead_letters.letters import Letter, read_letters

MOST_CHARS = 500


@dataclass(frozen=True, slots=True)
class Count:
    """How many dead letters one batch has for one reason.

    Args:
        reason: a short fixed word.
        query_id: Spark's id of the query, or the id of the job; empty where neither a manifest nor a name says it.
        batch_id: of the batch; None likewise.
        records: dead letters.
    """

    reason: str
    query_id: str
    batch_id: int | None
    records: int


def counts(folder: LetterFolder) -> Sequence[Count]:
    """Count dead letters by reason and batch; manifests know it without a look into the files."""
    found: Counter[tuple[str, int | None, str]] = Counter()
    if folder.has_manifests:
        records = {id(file.record): file.record for file in folder.files if file.record}
        for record in records.values():
            for reason, rows in record.rejected.items():
                found[record.key.query_id, record.key.batch_id, reason] += rows
    else:
        found.update((letter.file.query_id, letter.file.batch_id, letter.reason) for letter in read_letters(folder))
    return [Count(reason, query, batch, rows) for (query, batch, reason), rows in found.items()]


def letters_text(letters: Iterable[Letter]) -> str:
    """Return a paragraph per letter."""
    return "\n\n".join(_paragraph(letter) for letter in letters) or "No dead letters."


def letter_json(letter: Letter) -> dict[str, Any]:
    """Return a letter as JSON can hold it: bytes in base64, and `text` where the payload is UTF-8."""
    return {
        "file": letter.file.path,
        "row": letter.row,
        "batch_id": letter.file.batch_id,
        "reason": letter.reason,
        "message": letter.message,
        "stream": letter.stream,
        "shard": letter.shard,
        "position": letter.position,
        "timestamp": letter.timestamp.isoformat() if letter.timestamp else None,
        "raw": _base64(letter.raw),
        "text": _text(letter.raw),
        "key": _base64(letter.key),
        "headers": [{"key": name, "value": _base64(value)} for name, value in letter.headers],
    }


def printable(raw: bytes | None) -> str:
    r"""Return bytes as one line of text: what is not UTF-8, or not to be seen, as `\x1b`; long ones cut.

    An escape sequence, a line break or a mark that turns the direction of writing would let a record write elsewhere on
    the terminal, or be read as something else.
    """
    if raw is None:
        return "(no value)"
    text = raw[: 4 * MOST_CHARS + 4].decode("utf-8", "backslashreplace")  # a character has up to 4 bytes
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text[:MOST_CHARS]
    )
    return f"{shown} ... ({len(raw):,} bytes)" if len(text) > MOST_CHARS else shown


def _paragraph(letter: Letter) -> str:
    batch = "" if letter.file.batch_id is None else f", batch {letter.file.batch_id}"
    key = "" if letter.key is None else f"\n  key  {printable(letter.key)}"
    return (
        f"{letter.reason}: {printable(letter.message.encode())}\n"
        f"  from {printable(letter.origin.encode())}{batch}{key}\n  raw  {printable(letter.raw)}"
    )


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _text(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None
