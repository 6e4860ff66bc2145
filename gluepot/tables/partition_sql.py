"""Evaluates predicates of Spark SQL over the values of partitions, without a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from gluepot.catalog.values import Table
from gluepot.connectors.files.source.sql_predicate import BARE_FUNCTIONS
from gluepot.core.errors import ConfigError

# Larger relations take Spark's parser more than proportionally longer.
_MOST_ROWS = 500
_TEXT_TYPES = ("string", "char", "varchar")


def types_of_keys(table: Table) -> dict[str, str] | None:
    """Return the types of a table's partition columns, by their names in lower case; None if it has no such columns."""
    return {key.name.lower(): key.type.lower() for key in table.partition_keys} or None


class PartitionSql:
    """Evaluates predicates, as a WHERE clause of the session would.

    Args:
        spark: the session.
        types: of the partition columns of a table in the catalog; None for folders, whose values are strings.
    """

    def __init__(self, spark: SparkSession, types: Mapping[str, str] | None = None) -> None:
        self._spark = spark
        self._types = types

    @property
    def types(self) -> Mapping[str, str] | None:
        """The types of all partition columns."""
        return self._types

    def columns(self, text: str) -> frozenset[str]:
        """Return the columns of a predicate, in lower case.

        Raises:
            ConfigError: the predicate is no expression of Spark SQL.
        """
        if self._types is not None:
            self._parsed(text)
            return frozenset(self._types)
        return frozenset(_names(self._parsed(text))) - BARE_FUNCTIONS

    def matches(self, text: str, rows: Sequence[Mapping[str, str | None]]) -> list[bool]:
        """Return for each partition whether the predicate is true.

        Raises:
            ConfigError: the predicate has no meaning for the columns, or fails for a value.
        """
        found: list[bool] = []
        for first in range(0, len(rows), _MOST_ROWS):
            some = rows[first : first + _MOST_ROWS]
            try:
                matching = {row[0] for row in self._spark.sql(self._query(text, some)).collect()}
            except PySparkException as error:
                raise _refused(text, error) from error
            found += [at in matching for at in range(len(some))]
        return found

    def _query(self, text: str, rows: Sequence[Mapping[str, str | None]]) -> str:
        names = list(rows[0])
        values = ", ".join(
            f"({', '.join([str(at), *(_literal(row[name]) for name in names)])})" for at, row in enumerate(rows)
        )
        typed = "".join(f", {self._typed(f'col{at}', name)} AS {_quoted(name)}" for at, name in enumerate(names, 2))
        # Spark calls the columns of VALUES col1, col2, ...
        inner = f"SELECT col1 AS `position of the partition`{typed} FROM VALUES {values} AS v"  # noqa: S608  literals alone
        # Without the alias, Spark reads `WHERE (name)` as an alias of the relation and of its columns.
        return f"SELECT `position of the partition` FROM ({inner}) AS partitions WHERE (\n{text}\n)"  # noqa: S608  as above

    def _typed(self, column: str, name: str) -> str:
        kind = (self._types or {}).get(name, "string")
        # A value that is none of the type is null, as for a reader of the table.
        return column if kind.startswith(_TEXT_TYPES) else f"try_cast({column} AS {kind})"

    def _parsed(self, text: str) -> Any:
        try:
            return self._spark._jsparkSession.sessionState().sqlParser().parseExpression(text)  # noqa: SLF001  no other way
        except PySparkException as error:
            raise _refused(text, error) from error


def _literal(value: str | None) -> str:
    """Return a text as SQL that no setting of the parser changes."""
    return "CAST(NULL AS STRING)" if value is None else f"CAST(X'{value.encode().hex()}' AS STRING)"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _names(expression: Any) -> Iterator[str]:
    """Yield the columns of a parsed expression."""
    if expression.getClass().getSimpleName() == "UnresolvedAttribute":
        yield str(expression.nameParts().head()).lower()
    inner = expression.children()
    for at in range(inner.size()):
        yield from _names(inner.apply(at))


def _refused(text: str, error: PySparkException) -> ConfigError:
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    reason = " ".join((error.getMessage() or str(error)).split("\n")[0].split())
    return ConfigError(f"Spark cannot evaluate the predicate {shown!r} over the partition columns: {reason}")
