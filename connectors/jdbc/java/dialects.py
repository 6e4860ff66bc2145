"""How databases that only a Java driver reaches write what a write needs: types, names and a few statements. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gluepot.connectors.jdbc.dialect import Dialect, dialect_of

# Kinds of columns: what a column of a frame is, apart from any database. A decimal is `decimal(10,2)`.
SMALLINT, INT, BIGINT, REAL, DOUBLE = "smallint", "int", "bigint", "real", "double"
BOOLEAN, TEXT, BINARY, DATE, TIMESTAMP = "boolean", "text", "binary", "date", "timestamp"
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_MODE = re.compile(r";\s*MODE\s*=\s*(\w+)", re.IGNORECASE)

# Numbers of java.sql.Types.
_CHARACTERS = frozenset({1, 12, -1, -15, -9, -16})
_LARGE_OBJECTS = frozenset({2004, 2005, 2011})

_STANDARD_TYPES = {
    SMALLINT: "SMALLINT",
    INT: "INTEGER",
    BIGINT: "BIGINT",
    REAL: "REAL",
    DOUBLE: "DOUBLE PRECISION",
    BOOLEAN: "BOOLEAN",
    TEXT: "VARCHAR(4000)",
    BINARY: "BLOB",
    DATE: "DATE",
    TIMESTAMP: "TIMESTAMP(6)",
}


def has_fractions(kind: str) -> bool:
    """Whether a column of another type may round values of a kind."""
    return kind in {REAL, DOUBLE, TIMESTAMP} or (kind.startswith("decimal") and not kind.endswith(",0)"))


@dataclass(frozen=True, slots=True)
class WriteDialect:
    """The SQL of a database as far as a write needs it.

    Args:
        names: how names are quoted.
        types: the type of a column of a new table, for each kind.
        decimal: the type of a decimal, with `{}` for its digits and `{}` for those behind the point.
        most_digits: the most digits of a decimal; one with more becomes text.
        key_text: the type of a text that is a key, or a name.
        long_text: the type of a text of any length.
        staged_as: the statement that makes a table of a query, with `{table}`, `{columns}` and `{source}`.
        exact_text: SQL for a value that differs wherever two texts differ, with `{}`; empty if texts do so themselves.
        same_large_object: the condition that two large objects are equal, with `{}` twice.
        merge_end: what stands behind a MERGE statement.
        begin: statements at the beginning of a session.
    """

    names: Dialect
    types: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(_STANDARD_TYPES))
    decimal: str = "DECIMAL({},{})"
    most_digits: int = 38
    key_text: str = "VARCHAR(255)"
    long_text: str = "CLOB"
    staged_as: str = "CREATE TABLE {table} AS SELECT {columns} FROM {source}"
    exact_text: str = ""
    same_large_object: str = "{} = {}"
    merge_end: str = ""
    begin: tuple[str, ...] = ()

    def quoted(self, name: str) -> str:
        """Return a quoted name, which keeps its letter case."""
        return self.names.quoted(name)

    def type_of(self, kind: str) -> str:
        """Return the type of a column of a new table."""
        if found := _DECIMAL.fullmatch(kind):
            digits, scale = int(found[1]), int(found[2])
            return self.decimal.format(digits, scale) if digits <= self.most_digits else self.types[TEXT]
        return self.types[kind]

    def same(self, one: str, other: str, jdbc_type: int) -> str:
        """Return the condition that two values of a column are equal, or both null.

        Args:
            one: a column, quoted.
            other: a column of the same type, quoted.
            jdbc_type: number of the type in `java.sql.Types`.
        """
        if jdbc_type in _LARGE_OBJECTS:
            equal = self.same_large_object.format(one, other)
        elif jdbc_type in _CHARACTERS and self.exact_text:
            equal = f"{self.exact_text.format(one)} = {self.exact_text.format(other)}"
        else:
            equal = f"{one} = {other}"
        return f"({equal} OR ({one} IS NULL AND {other} IS NULL))"


_SQLSERVER = WriteDialect(
    dialect_of("sqlserver"),
    types={
        **_STANDARD_TYPES,
        INT: "INT",
        DOUBLE: "FLOAT(53)",
        BOOLEAN: "BIT",
        TEXT: "NVARCHAR(MAX)",
        BINARY: "VARBINARY(MAX)",
        TIMESTAMP: "DATETIME2(6)",
    },
    key_text="NVARCHAR(255)",
    long_text="NVARCHAR(MAX)",
    staged_as="SELECT {columns} INTO {table} FROM {source}",
    # Collations there usually find texts equal that differ in letter case or in spaces at the end.
    exact_text="CAST({} AS VARBINARY(MAX))",
    merge_end=";",
)
_ORACLE = WriteDialect(
    dialect_of("oracle"),
    types={
        **_STANDARD_TYPES,
        SMALLINT: "NUMBER(5)",
        INT: "NUMBER(10)",
        BIGINT: "NUMBER(19)",
        REAL: "BINARY_FLOAT",
        DOUBLE: "BINARY_DOUBLE",
        BOOLEAN: "NUMBER(1)",
        TEXT: "VARCHAR2(4000)",
    },
    decimal="NUMBER({},{})",
    key_text="VARCHAR2(255)",
    same_large_object="DBMS_LOB.COMPARE({}, {}) = 0",
)
_SNOWFLAKE = WriteDialect(
    dialect_of("snowflake"),
    types={**_STANDARD_TYPES, TEXT: "VARCHAR", BINARY: "BINARY", TIMESTAMP: "TIMESTAMP_NTZ(6)"},
    long_text="VARCHAR",
)
_DB2 = WriteDialect(
    dialect_of("db2"),
    staged_as="CREATE TABLE {table} AS (SELECT {columns} FROM {source}) WITH DATA",
    most_digits=31,
)
_H2 = WriteDialect(
    dialect_of("h2"),
    types={**_STANDARD_TYPES, TEXT: "VARCHAR"},
    # It would wait two seconds for a lock; another driver may be moving many rows.
    begin=("SET LOCK_TIMEOUT 3600000",),
)
_DIALECTS = {"sqlserver": _SQLSERVER, "oracle": _ORACLE, "snowflake": _SNOWFLAKE, "db2": _DB2, "h2": _H2}
_MODES_OF_H2 = {"mssqlserver": _SQLSERVER, "oracle": _ORACLE, "db2": _DB2}


def write_dialect(vendor: str, url: str) -> WriteDialect:
    """Return the dialect of a database; standard SQL for an unknown one.

    H2 can behave like other databases (`;MODE=Oracle`). Then it gets their SQL, apart from statements that it lacks.

    Args:
        vendor: the word behind `jdbc:` in the URL.
        url: the whole URL.
    """
    mode = _MODE.search(url) if vendor == "h2" else None
    other = _MODES_OF_H2.get(mode[1].lower()) if mode else None
    if other is not None:
        return replace(
            other,
            begin=_H2.begin,
            staged_as=_H2.staged_as,
            same_large_object=_H2.same_large_object,
        )
    return _DIALECTS.get(vendor) or WriteDialect(dialect_of(vendor))
