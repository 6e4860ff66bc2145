"""Names, columns and unique indexes of tables of MySQL. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gluepot.core.errors import ConfigError

_NAME = r"(?:`((?:[^`]|``)+)`|([^`.\s]+))"
_TABLE = re.compile(rf"\s*(?:{_NAME}\s*\.\s*)?{_NAME}\s*")
_BYTES = re.compile(r"(?i)(tiny|medium|long)?blob|(var)?binary|bit|geometry|point|linestring|polygon|multi.*")
_TEXTS = re.compile(r"(?i)char|varchar|(tiny|medium|long)?text")
_FLOATING = re.compile(r"(?i)float|double")
_WHOLE = {"tinyint", "smallint", "mediumint", "int", "bigint"}
_WHOLE_STAGED = {
    f"{kind}{sign}" for kind in ("TINYINT", "TINYINT(1)", "SMALLINT", "INT", "BIGINT") for sign in ("", " UNSIGNED")
}

# The types of which an index needs a length, and what a key of a new table has instead. Four bytes for each character
# let three such columns into an index of InnoDB, which takes 3,072 bytes.
_KEY_TYPES = {"LONGTEXT": "VARCHAR(255)", "LONGBLOB": "VARBINARY(255)"}


def quoted(name: str) -> str:
    """Return a quoted name."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """Return the plain name from a quoted one."""
    return name.removeprefix("`").removesuffix("`").replace("``", "`")


def table_name(text: str, database: str) -> tuple[str, str]:
    """Return database and table that a script names: `table`, `database.table`, or either in backticks.

    Args:
        text: what the script says.
        database: the database of the connection, for a name without one.

    Raises:
        ConfigError: it is not a name.
    """
    found = _TABLE.fullmatch(text)
    if found is None:
        raise ConfigError(f"dbtable is {text!r}, which is not the name of a table; write table or database.table.")
    parts = [part.replace("``", "`") if part else part for part in found.groups()]
    return parts[0] or parts[1] or database, parts[2] or parts[3] or ""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table, as `information_schema.COLUMNS` describes it.

    Args:
        name: its name.
        type: its complete type, such as `decimal(10,2) unsigned`.
        kind: the type alone, such as `decimal`.
        charset: its character set; empty if it has none.
        collation: its collation; empty if it has none.
        counts: whether it is AUTO_INCREMENT.
        generated: whether the server computes it from other columns.
    """

    name: str
    type: str
    kind: str
    charset: str = ""
    collation: str = ""
    counts: bool = False
    generated: bool = False

    @property
    def declared(self) -> str:
        """The definition of a column that holds the same values, or NULL."""
        text = f" CHARACTER SET {self.charset} COLLATE {self.collation}" if self.charset else ""
        return f"{quoted(self.name)} {self.type}{text} NULL"

    def changes(self, field: str, staged: str) -> str:
        """Return the condition for staged values that the column rounds or cuts without an error; empty for none.

        Args:
            field: the staged column.
            staged: its type.
        """
        value, length = quoted(field), re.search(r"\((\d+)(?:,(\d+))?\)", self.type)
        kind = self.kind.lower()
        digits = int(length[1]) if length else 0
        if kind in {"char", "varchar"}:
            return f"CHAR_LENGTH({value}) > {digits}"
        if kind in _WHOLE and staged not in _WHOLE_STAGED:
            return f"{value} <> ROUND({value})"
        if kind == "decimal" and staged not in _WHOLE_STAGED:
            return f"{value} <> ROUND({value}, {int(length[2] or 0) if length else 0})"
        if kind in {"datetime", "timestamp"} and staged != "DATE":
            return f"{value} <> CAST({value} AS DATETIME({digits}))"
        return f"{value} <> CAST({value} AS DATE)" if kind == "date" and staged != "DATE" else ""

    def exact(self, table: str = "") -> str:
        """Return SQL for bytes or text that differ wherever two values differ."""
        value = f"{table}.{quoted(self.name)}" if table else quoted(self.name)
        if _BYTES.fullmatch(self.kind):
            return f"CAST({value} AS BINARY)"
        if _TEXTS.fullmatch(self.kind):
            return value
        # The text of a FLOAT has six digits only, that of a DOUBLE all of them.
        return f"CAST({value} + 0e0 AS CHAR)" if _FLOATING.fullmatch(self.kind) else f"CAST({value} AS CHAR)"


def digest(columns: Sequence[TableColumn], table: str = "") -> str:
    """Return SQL for 32 bytes that are equal if and only if two rows are equal in these columns; NULL equals NULL.

    Args:
        columns: the columns.
        table: alias of the table; empty for none.
    """
    each = ", ".join(f"IFNULL(SHA2({column.exact(table)}, 256), '-')" for column in columns)
    return f"UNHEX(SHA2(CONCAT_WS(',', {each}), 256))"


def created_columns(types: Mapping[str, str], keys: Collection[str]) -> str:
    """Return the column definitions of a new table.

    Args:
        types: type of each column.
        keys: columns of the primary key; none for a table without one.
    """
    wanted = {key.lower() for key in keys}
    columns = [
        f"{quoted(name)} {_KEY_TYPES.get(kind, kind) if name.lower() in wanted else kind}"
        for name, kind in types.items()
    ]
    if keys:
        columns.append(f"PRIMARY KEY ({', '.join(map(quoted, keys))})")
    return ", ".join(columns)


def hidden_conflict(
    indexes: Mapping[str, Collection[str]], keys: Collection[str], given: Collection[str], counting: Collection[str]
) -> str | None:
    """Return another unique index by which an upsert could replace a row that has another key; None if there is none.

    MySQL's upsert replaces the row with which a new one collides in any unique index. An index that contains the key,
    or a number that AUTO_INCREMENT gives, cannot collide alone.

    Args:
        indexes: columns of each unique index.
        keys: columns of the key.
        given: columns that the write has values for.
        counting: AUTO_INCREMENT columns.
    """
    for name, columns in indexes.items():
        if not set(keys) <= set(columns) and not (set(columns) & set(counting)) - set(given):
            return name
    return None


def has_index(indexes: Mapping[str, Collection[str]], keys: Collection[str]) -> bool:
    """Tell whether a unique index has exactly the key's columns."""
    return any(set(columns) == set(keys) for columns in indexes.values())
