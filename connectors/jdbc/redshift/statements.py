"""The statements of a write, as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gluepot.connectors.jdbc.redshift.names import quoted
from gluepot.connectors.jdbc.redshift.types import converted, fingerprint, rounds, staged_type

ORDINAL = "gluepot_ordinal"
ROWS, AGAIN, GONE, HELD = "gluepot_rows", "gluepot_again", "gluepot_gone", "gluepot_held"
"""Temporary tables: rows of an upsert; rows to take back, their fingerprints, and the rows that have these."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A temporary table into which files of the same columns were loaded.

    Args:
        table: its name.
        kinds: the kind of each column, in the order of the files.
        numbered: whether a column with the order of the rows comes after them.
    """

    table: str
    kinds: Mapping[str, str]
    numbered: bool = False


def create_stage(stage: Stage) -> str:
    """Return the statement that creates the temporary table."""
    columns = [f"{quoted(name)} {staged_type(kind)}" for name, kind in stage.kinds.items()]
    if stage.numbered:
        columns.append(f"{ORDINAL} bigint")
    return f"CREATE TEMP TABLE {stage.table} ({', '.join(columns)})"


def manifest(files: Mapping[str, int]) -> bytes:
    """Return the manifest of a load.

    Args:
        files: URL and length of each file; COPY of Parquet needs the length.
    """
    entries = [
        {"url": url, "mandatory": True, "meta": {"content_length": size_bytes}} for url, size_bytes in files.items()
    ]
    return json.dumps({"entries": entries}).encode()


def copy(table: str, manifest_url: str, authorization: str, further: str = "") -> str:
    """Return the statement that loads files of Parquet."""
    parts = (f"COPY {table} FROM '{manifest_url}'", authorization, "FORMAT AS PARQUET MANIFEST", further)
    return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Target:
    """The table that is written.

    Args:
        qualified: its name with the schema, quoted.
        table: its name without, quoted.
        types: type of each column.
        matched: the column of each field.
        truncates: whether texts that are too long are cut.
    """

    qualified: str
    table: str
    types: Mapping[str, str]
    matched: Mapping[str, str]
    truncates: bool = False

    @property
    def names(self) -> list[str]:
        """Quoted names of the columns that the rows fill; the first column, with nulls, if they fill none."""
        return [quoted(column) for column in self.columns]

    @property
    def columns(self) -> list[str]:
        """Names of these columns."""
        return list(self.matched.values()) or list(self.types)[:1]

    def select(self, stage: Stage, *, ordinal: bool = False) -> str:
        """Return the query for the rows of a stage, converted to the table's types."""
        fields = {column: field for field, column in self.matched.items() if field in stage.kinds}
        values = []
        for column in self.columns:
            kind = self.types[column]
            value = f"NULL::{kind}"
            if field := fields.get(column):
                value = converted(quoted(field), stage.kinds[field], kind, truncates=self.truncates)
            values.append(f"{value} AS {quoted(column)}")
        if ordinal:
            values.append(ORDINAL)
        return f"SELECT {', '.join(values)} FROM {stage.table}"

    def selects(self, stages: Sequence[Stage], *, ordinal: bool = False) -> str:
        """Return the query for the rows of several stages."""
        return " UNION ALL ".join(self.select(stage, ordinal=ordinal) for stage in stages)

    def insert(self, stage: Stage) -> str:
        """Return the statement that appends the rows of a stage."""
        return f"INSERT INTO {self.qualified} ({', '.join(self.names)}) {self.select(stage)}"

    def newest(self, stages: Sequence[Stage], keys: Sequence[str]) -> str:
        """Return the statement that keeps the last row of each key in a temporary table."""
        by, names = ", ".join(map(quoted, keys)), ", ".join(self.names)
        numbered = (
            f"SELECT {names}, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {ORDINAL} DESC) AS gluepot_nth"
            f" FROM ({self.selects(stages, ordinal=True)}) AS every_row"
        )
        return f"CREATE TEMP TABLE {ROWS} AS SELECT {names} FROM ({numbered}) AS numbered WHERE gluepot_nth = 1"

    def changed_keys(self, stage: Stage, keys: Sequence[str]) -> str:
        """Return the query for the number of rows of a stage whose key the table would round; empty if it never does.

        Two such keys could become one.
        """
        fields = {column: field for field, column in self.matched.items() if field in stage.kinds}
        conditions = []
        for key in keys:
            field = fields.get(key)
            if field is not None and rounds(stage.kinds[field], self.types[key]):
                conditions.append(f"{quoted(field)} <> {quoted(field)}::{self.types[key]}::{stage.kinds[field]}")
        return f"SELECT COUNT(*) FROM {stage.table} WHERE {' OR '.join(conditions)}" if conditions else ""

    def without_key(self, keys: Sequence[str]) -> str:
        """Return the query for the number of rows that have a null in their key."""
        return f"SELECT COUNT(*) FROM {ROWS} WHERE {' OR '.join(f'{quoted(key)} IS NULL' for key in keys)}"

    def merge(self, keys: Sequence[str]) -> str:
        """Return the statement that updates rows by key, and appends those whose key is new."""
        matches = " AND ".join(f"{self.table}.{quoted(key)} = {ROWS}.{quoted(key)}" for key in keys)
        changed = [name for name in self.names if name not in {quoted(key) for key in keys}] or self.names
        sets = ", ".join(f"{name} = {ROWS}.{name}" for name in changed)
        values = ", ".join(f"{ROWS}.{name}" for name in self.names)
        return (
            f"MERGE INTO {self.qualified} USING {ROWS} ON {matches} WHEN MATCHED THEN UPDATE SET {sets}"
            f" WHEN NOT MATCHED THEN INSERT ({', '.join(self.names)}) VALUES ({values})"
        )

    def take_back(self, stages: Sequence[Stage]) -> list[str]:
        """Return the statements that find the rows which an earlier try has appended.

        They end with two temporary tables: the fingerprints of those rows with the number of rows of each, and all rows
        of the table that have one of the fingerprints, numbered.
        """
        prints = self._fingerprint("")
        names = ", ".join(f"{self.qualified}.{quoted(name)}" for name in self.types)
        return [
            f"CREATE TEMP TABLE {AGAIN} AS {self.selects(stages)}",
            (
                f"CREATE TEMP TABLE {GONE} AS SELECT gluepot_print, COUNT(*) AS copies"
                f" FROM (SELECT {prints} AS gluepot_print FROM {AGAIN}) AS printed GROUP BY gluepot_print"
            ),
            (
                f"CREATE TEMP TABLE {HELD} AS SELECT {names}, {GONE}.gluepot_print, {GONE}.copies, ROW_NUMBER() OVER"
                f" (PARTITION BY {GONE}.gluepot_print ORDER BY {GONE}.gluepot_print) AS gluepot_nth"
                f" FROM {self.qualified}"
                f" JOIN {GONE} ON {self._fingerprint(f'{self.qualified}.')} = {GONE}.gluepot_print"
            ),
        ]

    @property
    def found(self) -> str:
        """The query for the number of rows that can be taken back, after `take_back`."""
        return f"SELECT COUNT(*) FROM {HELD} WHERE gluepot_nth <= copies"

    @property
    def remove(self) -> str:
        """The statement that removes all rows with one of the fingerprints."""
        return f"DELETE FROM {self.qualified} WHERE {self._fingerprint('')} IN (SELECT gluepot_print FROM {GONE})"

    @property
    def surplus(self) -> str:
        """The query for the number of rows that were removed although somebody else has written them."""
        return f"SELECT COUNT(*) FROM {HELD} WHERE gluepot_nth > copies"

    @property
    def restore(self) -> str:
        """The statement that puts these rows back."""
        names = ", ".join(map(quoted, self.types))
        return f"INSERT INTO {self.qualified} ({names}) SELECT {names} FROM {HELD} WHERE gluepot_nth > copies"

    def _fingerprint(self, prefix: str) -> str:
        return " || ',' || ".join(
            fingerprint(f"{prefix}{quoted(column)}", self.types[column]) for column in self.columns
        )


TAKING_BACK = (AGAIN, GONE, HELD)
