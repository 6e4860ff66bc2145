"""Takes back the rows that an earlier attempt has appended.

MySQL does not tell which transaction wrote a row. So the staged rows of an append are kept until the next batch of the
query, and exactly as many equal rows are deleted: rows are compared in the columns that were written, after the same
conversion to the columns' types, byte by byte. Numbers that AUTO_INCREMENT gave leave out older rows that are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gluepot.connectors.jdbc.mysql.columns import TableColumn, digest, quoted
from gluepot.connectors.jdbc.mysql.session import Session
from gluepot.connectors.jdbc.mysql.tables import columns_of, unique_indexes
from gluepot.connectors.jdbc.publishing import TableName
from gluepot.connectors.jdbc.staging import ORDINAL, match_column
from gluepot.core.errors import TransientError

# Temporary tables, because making one does not end a transaction.
_ROWS, _SUMS, _PICKED, _SURPLUS = (f"gluepot_undo_{name}" for name in ("rows", "sums", "picked", "surplus"))


@dataclass(frozen=True, slots=True)
class Undo:
    """The rows of one append that are to go.

    Args:
        session: session of the transaction.
        name: the table.
        kept: the kept staging tables, in order: the name of each, and the types of its columns; a column of nulls
            has the type "", and is not in the staging table.
        first_number: the first number that AUTO_INCREMENT gave to the rows; 0 if it gave none.
    """

    session: Session
    name: TableName
    kept: Sequence[tuple[str, Mapping[str, str]]]
    first_number: int

    def run(self) -> int:
        """Delete the rows; return how many of them were there as they were written."""
        columns = columns_of(self.session, self.name)
        by_name = {column.name: column for column in columns}
        names = list(dict.fromkeys(name for _, types in self.kept for name in types if name != ORDINAL))
        written = [by_name[match_column(name, by_name, self.name.qualified)] for name in names]
        self._sum(names, written)
        key = next((by for index, by in unique_indexes(self.session, self.name).items() if index == "PRIMARY"), None)
        if key is None:
            return self._from_table_without_key(columns, written)
        return self._by_key([by_name[one] for one in key], written)

    def _make(self, table: str, columns: str) -> str:
        place = f"{self.name.schema}.{table}"
        self.session.run(f"DROP TEMPORARY TABLE IF EXISTS {place}")
        self.session.run(f"CREATE TEMPORARY TABLE {place} ({columns}) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4")
        return place

    def _sum(self, names: Sequence[str], written: Sequence[TableColumn]) -> None:
        """Convert the kept rows as the append did, and count equal ones."""
        rows = self._make(_ROWS, ", ".join(column.declared for column in written))
        into = ", ".join(quoted(column.name) for column in written)
        for table, types in self.kept:
            values = ", ".join(quoted(name) if types.get(name) else "NULL" for name in names)
            self.session.run(f"INSERT INTO {rows} ({into}) SELECT {values} FROM {self.name.schema}.{table}")
        sums = self._make(_SUMS, "digest BINARY(32) PRIMARY KEY, times BIGINT NOT NULL")
        self.session.run(f"INSERT INTO {sums} SELECT {digest(written)}, COUNT(*) FROM {rows} GROUP BY 1")

    def _by_key(self, key: Sequence[TableColumn], written: Sequence[TableColumn]) -> int:
        schema, by = self.name.schema, ", ".join(quoted(one.name) for one in key)
        counting = [one for one in key if one.counts and self.first_number and one not in written]
        newer = f" WHERE {quoted(counting[0].name)} >= {self.first_number}" if counting else ""
        declared = ", ".join(one.declared for one in key)
        picked = self._make(_PICKED, f"{declared}, digest BINARY(32) NOT NULL, nth BIGINT NOT NULL")
        hashed = f"SELECT {by}, {digest(written)} AS digest FROM {self.name.qualified}{newer}"
        order = f"{by} {'ASC' if counting else 'DESC'}"
        numbered = (
            f"SELECT {by}, digest, ROW_NUMBER() OVER (PARTITION BY digest ORDER BY {order}) AS nth"
            f" FROM ({hashed}) AS hashed"
        )
        self.session.run(
            f"INSERT INTO {picked} SELECT numbered.* FROM ({numbered}) AS numbered"
            f" JOIN {schema}.{_SUMS} AS sums ON sums.digest = numbered.digest WHERE numbered.nth <= sums.times"
        )
        same = " AND ".join(f"t.{quoted(one.name)} = picked.{quoted(one.name)}" for one in key)
        # Compared again, because somebody may have changed a row since.
        return self.session.run(
            f"DELETE t FROM {picked} AS picked JOIN {self.name.qualified} AS t ON {same}"
            f" WHERE {digest(written, 't')} = picked.digest"
        )

    def _from_table_without_key(self, columns: Sequence[TableColumn], written: Sequence[TableColumn]) -> int:
        """Delete all equal rows and put the surplus back, since no column tells two equal rows apart."""
        own = [column for column in columns if not column.generated]
        listed = ", ".join(quoted(column.name) for column in own)
        sums = f"{self.name.schema}.{_SUMS} AS sums"
        equal = f"{self.name.qualified} AS t JOIN {sums} ON sums.digest = {digest(written, 't')}"
        # Nobody changes the rows from here on.
        (found,) = self.session.rows(f"SELECT COUNT(*) FROM {equal} FOR UPDATE")[0]
        declared = ", ".join(column.declared for column in own)
        surplus = self._make(_SURPLUS, f"{declared}, gluepot_nth BIGINT NOT NULL, gluepot_times BIGINT NOT NULL")
        of_row = ", ".join(f"t.{quoted(column.name)}" for column in own)
        copied = self.session.run(
            f"INSERT INTO {surplus} SELECT {of_row}, ROW_NUMBER() OVER (PARTITION BY sums.digest ORDER BY sums.digest),"
            f" sums.times FROM {equal}"
        )
        deleted = self.session.run(f"DELETE t FROM {equal}")
        back = self.session.run(
            f"INSERT INTO {self.name.qualified} ({listed}) SELECT {listed} FROM {surplus}"
            " WHERE gluepot_nth > gluepot_times"
        )
        if not found == copied == deleted:
            raise TransientError(
                f"rows of {self.name.qualified} were changed by somebody else while an earlier try of this write was"
                " taken back; try again"
            )
        return deleted - back
