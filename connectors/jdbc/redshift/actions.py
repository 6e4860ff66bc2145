"""Preactions and postactions: the script's own statements, which run inside our transaction. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gluepot.connectors.jdbc.scripts import split
from gluepot.core.errors import ConfigError

_BOUNDARY = re.compile(
    r"(BEGIN|START\s+TRANSACTION|END|COMMIT)(\s+(WORK|TRANSACTION))?(\s+ISOLATION\s+LEVEL\s+[\w\s]+|\s+READ\s+\w+)*",
    re.IGNORECASE,
)
_ROLLBACK = re.compile(r"(ROLLBACK|ABORT)\b", re.IGNORECASE)
_TRUNCATE = re.compile(r"TRUNCATE\s+(?:TABLE\s+)?(?P<table>\S+)", re.IGNORECASE)
_ALONE = re.compile(
    r"(VACUUM|ALTER\s+TABLE\s+\S+\s+APPEND|(?:CREATE|DROP)\s+(?:DATABASE|EXTERNAL\s+TABLE|LIBRARY))\b", re.IGNORECASE
)
_ADDS = re.compile(r"INSERT\s+INTO\b|COPY\b|SELECT\b.*\bINTO\b", re.IGNORECASE | re.DOTALL)


def in_one_transaction(text: str, option: str) -> Iterator[str]:
    """Yield the statements as they may run inside our transaction.

    Generated scripts bracket their upsert with `BEGIN; ... END;` (docs/glue 13). Inside our transaction `END` would
    commit before the write is recorded, so that a retry would write twice; the brackets are left out, and our own
    transaction gives what they were for. `TRUNCATE` commits in Redshift, too, so the rows are deleted instead.

    Args:
        text: statements, separated by semicolons.
        option: `preactions` or `postactions`, for messages.

    Raises:
        ConfigError: a statement cannot run inside a transaction.
    """
    for statement in split(text):
        if _BOUNDARY.fullmatch(statement):
            continue
        if _ROLLBACK.match(statement):
            raise ConfigError(f"{option} has {statement!r}, which would undo the write itself; omit it.")
        if found := _ALONE.match(statement):
            raise ConfigError(
                f"{option} has {' '.join(found[1].upper().split())}, which Redshift does not run inside a transaction;"
                " run it apart from the write."
            )
        if found := _TRUNCATE.fullmatch(statement):
            yield f"DELETE FROM {found['table']}"
        else:
            yield statement


def is_repeatable(text: str) -> bool:
    """Whether statements that ran with some rows may run again with these rows and more.

    Statements that only add rows may not; those that first delete, or merge by a key, may.
    """
    statements = split(text)
    adds = any(_ADDS.match(one) for one in statements)
    return not adds or any(re.match(r"(DELETE|MERGE)\b", one, re.IGNORECASE) for one in statements)
