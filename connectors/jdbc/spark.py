"""Reads any database that has a JDBC driver, through Spark's own source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gluepot.connectors.jdbc.dialect import Dialect, as_text, dialect_of, literal
from gluepot.connectors.jdbc.drivers import driver_of
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn, Row
from gluepot.connectors.jdbc.plan import hash_cuts, range_cuts, require_finite
from gluepot.connectors.jdbc.relation import Query, find_column
from gluepot.connectors.jdbc.settings import HashPartitions, JdbcReadSettings, RangePartitions
from gluepot.connectors.jdbc.sql import Sql, all_of, sql
from gluepot.core.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_FAMILIES = {
    "tinyint": Family.NUMBER,
    "smallint": Family.NUMBER,
    "int": Family.NUMBER,
    "bigint": Family.NUMBER,
    "decimal": Family.NUMBER,
    "date": Family.DATE,
    "timestamp": Family.TIMESTAMP,
    "timestamp_ntz": Family.TIMESTAMP,
}


@dataclass(frozen=True, slots=True)
class SparkRelation:
    """A table or query that Spark reads; answers `gluepot.connectors.jdbc.plan.Relation`.

    Its questions and its reads are separate transactions. So rows that are committed between them may be read but not
    remembered; with an overlap window, the next run then reads them again.

    Args:
        spark: the session.
        options: options of Spark's JDBC source: URL, user, driver.
        name: the table as the script names it, or the query.
        source: the table or query as it is written in a statement.
        columns: names of the columns, with Spark's types.
        dialect: dialect of the database.
        primary_key: empty, because Spark does not tell the primary key.
    """

    spark: SparkSession
    options: dict[str, str]
    name: str
    source: str
    columns: dict[str, str]
    dialect: Dialect
    primary_key: tuple[str, ...] = ()

    @classmethod
    def open(cls, spark: SparkSession, settings: JdbcReadSettings) -> SparkRelation:
        """Ask the database for the columns.

        Raises:
            ConfigError: there is no driver.
            Exception: any exception of Spark, if the driver or the database refuses.
        """
        endpoint = settings.endpoint
        wanted = settings.relation
        if isinstance(wanted, Query):
            name, source = wanted.text, f"({wanted.text}) gluepot_query"
        else:
            name, source = wanted.shown(wanted.name), wanted.source(wanted.name)
        options = _options(endpoint, driver_of(spark, endpoint).name)
        frame = spark.read.format("jdbc").options(**options).option("dbtable", source).load()
        columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        return cls(spark, options, name, source, columns, dialect_of(endpoint.vendor))

    def frame(self, conditions: Sequence[Sql]) -> DataFrame:
        """Return the rows of all conditions, one task for each; no rows if there are no conditions."""
        predicates = [where.render(lambda _, bound: literal(bound)) or "1 = 1" for where in conditions] or ["1 = 0"]
        url = self.options["url"]
        others = {name: value for name, value in self.options.items() if name != "url"}
        return self.spark.read.jdbc(url, self.source, predicates=predicates, properties=others)

    def key(self, names: Sequence[str], *, descending: bool) -> Key:
        """Return the named columns as a key."""
        found = [find_column(name, "jobBookmarkKeys", list(self.columns), self.name) for name in names]
        families = [_FAMILIES.get(self.columns[name].partition("(")[0], Family.OTHER) for name in found]
        # A literal depends only on the family.
        columns = [KeyColumn(name, family.value, family) for name, family in zip(found, families, strict=True)]
        return Key(tuple(columns), descending)

    def cuts(self, partitions: HashPartitions | RangePartitions | None) -> list[Sql]:
        """Return the conditions that divide the rows among tasks; none for one task."""
        names = list(self.columns)
        match partitions:
            case None:
                return []
            case RangePartitions(column, lower, upper, count):
                found = find_column(column, "partitionColumn", names, self.name)
                return range_cuts(self.dialect.quoted(found), lower, upper, count)
            case HashPartitions(None, expression, count):
                return self._hash_cuts(str(expression), "hashexpression", count)
            case HashPartitions(field, _, count):
                column = self.dialect.quoted(find_column(str(field), "hashfield", names, self.name))
                return self._hash_cuts_of_value(column, f"hashfield is {field!r}", count)

    def _hash_cuts(self, expression: str, option: str, count: int) -> list[Sql]:
        """Divide by the script's own expression; if it computes no number of digits, by a hash of its value."""
        source = f"(SELECT ({expression}) AS gluepot_share FROM {self.source} WHERE 1 = 0) gluepot_shares"
        (field,) = self.spark.read.format("jdbc").options(**self.options).option("dbtable", source).load().schema
        kind = field.dataType.simpleString()
        if kind in _WHOLE or (kind.startswith("decimal") and kind.endswith(",0)")):
            return hash_cuts(expression, count, self.dialect.remainder, whole=True)
        if kind.startswith("decimal"):
            return hash_cuts(expression, count, self.dialect.remainder, whole=False)
        return self._hash_cuts_of_value(f"({expression})", f"{option} {expression!r} is of type {kind}", count)

    def _hash_cuts_of_value(self, value: str, said: str, count: int) -> list[Sql]:
        if self.dialect.hashed is None:
            raise ConfigError(
                f"{said}, and how this database hashes such a value is not known; give hashexpression, SQL that"
                " computes an integer, such as the name of an integer column."
            )
        return hash_cuts(self.dialect.hashed.format(value), count, self.dialect.remainder, whole=True)

    def quoted(self, names: Sequence[str]) -> list[str]:
        """Return names of columns, quoted for a statement."""
        return [self.dialect.quoted(name) for name in names]

    def newest(self, key: Key, where: Sql) -> Row | None:
        """Return the key of the last row in the key's order, found column by column with MIN or MAX."""
        best = "MIN" if key.descending else "MAX"
        quoted = self.quoted(key.names)
        whole = [sql(name, " IS NOT NULL") for name in quoted]
        row: Row = ()
        for depth, name in enumerate(quoted):
            fixed = Key(key.columns[:depth]).equal(row, quoted[:depth])
            wanted = all_of([*whole, *(one for one in (where, fixed) if one.parts)])
            (found,) = self._rows(sql(f"SELECT {best}({name}) AS best FROM {self.source} WHERE ", wanted))
            if found[0] is None:
                return None
            if isinstance(found[0], float):
                require_finite(self.name, Key((KeyColumn(key.names[depth], "double", Family.OTHER),)), (str(found[0]),))
            row = (*row, as_text(found[0]))
        return row

    def count(self, where: Sql) -> int:
        """Return the number of rows."""
        (found,) = self._rows(sql(f"SELECT COUNT(*) AS counted FROM {self.source} WHERE ", where))
        return int(found[0])

    def keys(self, key: Key, where: Sql) -> list[tuple[Row, int]]:
        """Return every key that occurs, with its number of rows."""
        names = ", ".join(self.quoted(key.names))
        rows = self._rows(
            sql(f"SELECT {names}, COUNT(*) AS counted FROM {self.source} WHERE ", where, f" GROUP BY {names}")
        )
        return [(tuple(map(as_text, row[:-1])), int(row[-1])) for row in rows]

    def _rows(self, statement: Sql) -> list[Any]:
        text = statement.render(lambda _, bound: literal(bound))
        return self.spark.read.format("jdbc").options(**self.options).option("query", text).load().collect()


def _options(endpoint: JdbcEndpoint, driver_class: str) -> dict[str, str]:
    given = {
        "url": endpoint.jdbc_url,
        "user": endpoint.user,
        "password": endpoint.password,
        "driver": driver_class,
    }
    return {name: value for name, value in given.items() if value}
