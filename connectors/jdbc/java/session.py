"""A connection of a Java driver, opened in Spark's own JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError

from gluepot.connectors.jdbc.drivers import driver_of
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.java.dialects import WriteDialect, write_dialect
from gluepot.connectors.jdbc.java.errors import translated
from gluepot.connectors.jdbc.java.statements import NamePart
from gluepot.core.errors import ConfigError, EtlError, PermanentError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_READ_COMMITTED = 2  # java.sql.Connection
_MOST_CAUSES = 10
_PASSING = ("SQLTransientException", "SQLRecoverableException", "SQLNonTransientConnectionException")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        name: as the database spells it.
        jdbc_type: number of its type in `java.sql.Types`.
        generated: whether the database computes it from other columns.
        counts: whether the database numbers it.
    """

    name: str
    jdbc_type: int
    generated: bool = False
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A table as the database's own catalog has it.

    Args:
        catalog: its catalog; None where there are none.
        schema: its schema; None likewise.
        name: its name.
        kind: `TABLE`, `VIEW` or another word of the database; empty if there is no such table.
    """

    catalog: str | None
    schema: str | None
    name: str
    kind: str = ""


@dataclass(slots=True)
class Session:
    """A connection; each statement is a transaction unless one was begun.

    Args:
        connection: of the driver.
        endpoint: the database, for error messages.
        dialect: its SQL.
    """

    connection: Any
    endpoint: JdbcEndpoint
    dialect: WriteDialect
    _folds: str = field(default="", init=False)

    def run(self, statement: str, values: Sequence[str | int | None] = ()) -> int:
        """Execute a statement with `?` for each value; return how many rows it has changed."""
        with self._mapped("A statement"):
            prepared = self.connection.prepareStatement(statement)
            try:
                _bind(prepared, values)
                prepared.execute()
                return max(int(prepared.getUpdateCount()), 0)
            finally:
                prepared.close()

    def rows(self, statement: str, values: Sequence[str | int | None] = ()) -> list[tuple[str | None, ...]]:
        """Return all rows of a statement, each value as text."""
        with self._mapped("A statement"):
            prepared = self.connection.prepareStatement(statement)
            try:
                _bind(prepared, values)
                result = prepared.executeQuery()
                width = result.getMetaData().getColumnCount()
                found = []
                while result.next():
                    found.append(tuple(result.getString(n) for n in range(1, width + 1)))
                return found
            finally:
                prepared.close()

    def begin(self) -> None:
        """Begin a transaction, in which each statement sees what others have committed before it."""
        with self._mapped("A transaction"):
            if not self.connection.getMetaData().supportsTransactions():
                raise ConfigError(
                    f"The database at {self.endpoint.shown} knows no transactions, so a write to it could be half done;"
                    " write to files, or to a database that knows them."
                )
            self.connection.setTransactionIsolation(_READ_COMMITTED)
            self.connection.setAutoCommit(False)

    def commit(self) -> None:
        """End the transaction."""
        with self._mapped("The commit"):
            self.connection.commit()

    def folded(self, name: str) -> str:
        """Return a name without quotes as the database spells it."""
        if not self._folds:
            with self._mapped("A question about names"):
                facts = self.connection.getMetaData()
                upper, lower = facts.storesUpperCaseIdentifiers(), facts.storesLowerCaseIdentifiers()
                self._folds = "upper" if upper else "lower" if lower else "mixed"
        return name.upper() if self._folds == "upper" else name.lower() if self._folds == "lower" else name

    def place(self, catalog: NamePart | None, schema: NamePart | None) -> tuple[str | None, str | None]:
        """Return catalog and schema of a name; those of the connection where it has none."""
        with self._mapped("A question about names"):
            found = (
                catalog.text if catalog else self.connection.getCatalog(),
                schema.text if schema else self.connection.getSchema(),
            )
        given = (catalog, schema)
        return tuple(
            self.folded(text) if part is not None and not part.quoted and text else text
            for part, text in zip(given, found, strict=True)
        )  # type: ignore[return-value]

    def find(self, catalog: str | None, schema: str | None, table: NamePart) -> Found:
        """Return a table of a schema; if it is not there, the name under which it would be made."""
        names = [table.text] if table.quoted else [self.folded(table.text), table.text]
        for name in dict.fromkeys(names):
            if found := self.tables(catalog, schema, name):
                return found[0]
        return Found(catalog, schema, names[0])

    def tables(self, catalog: str | None, schema: str | None, name: str, *, begins: bool = False) -> list[Found]:
        """Return the tables of a name, or those whose names begin with it."""
        with self._mapped("A question about tables"):
            facts = self.connection.getMetaData()
            escape = facts.getSearchStringEscape() or ""
            result = facts.getTables(
                catalog, _pattern(schema, escape), f"{_pattern(name, escape)}{'%' if begins else ''}", None
            )
            found = []
            while result.next():
                one = Found(*(result.getString(n) for n in range(1, 5)))
                if one.name.startswith(name) if begins else one.name == name:
                    found.append(one)
            result.close()
        return found

    def columns(self, table: Found) -> dict[str, Column]:
        """Return the columns of a table, in order, by name."""
        with self._mapped("A question about columns"):
            facts = self.connection.getMetaData()
            escape = facts.getSearchStringEscape() or ""
            result = facts.getColumns(table.catalog, _pattern(table.schema, escape), _pattern(table.name, escape), None)
            found = {}
            while result.next():
                if result.getString("TABLE_NAME") == table.name:
                    name = result.getString("COLUMN_NAME")
                    generated = _text_of(result, "IS_GENERATEDCOLUMN") == "YES"
                    counts = _text_of(result, "IS_AUTOINCREMENT") == "YES"
                    found[name] = Column(name, int(result.getInt("DATA_TYPE")), generated, counts)
            result.close()
        return found

    def primary_key(self, table: Found) -> list[str]:
        """Return the columns of the primary key, in order; none if there is none."""
        with self._mapped("A question about keys"):
            result = self.connection.getMetaData().getPrimaryKeys(table.catalog, table.schema, table.name)
            found = []
            while result.next():
                found.append((int(result.getInt("KEY_SEQ")), str(result.getString("COLUMN_NAME"))))
            result.close()
        return [name for _, name in sorted(found)]

    @contextmanager
    def _mapped(self, doing: str) -> Iterator[None]:
        with mapped(self.endpoint, doing):
            yield


@contextmanager
def mapped(endpoint: JdbcEndpoint, doing: str) -> Iterator[None]:
    """Turn exceptions of a driver into our errors.

    Args:
        endpoint: the database, for the message.
        doing: the action that may fail, for the message.

    Raises:
        TransientError: the server cannot be reached, is busy, or gave up for a reason that may pass.
        ConfigError: a name, a permission, a value or a statement is wrong.
        PermanentError: anything else.
    """
    try:
        yield
    except Py4JJavaError as error:
        raise _translated(error, endpoint, doing) from error
    except Py4JError as error:
        raise PermanentError(f"{doing} at {endpoint.shown} did not work: {error}") from error


def spark_session() -> SparkSession:
    """Return the session of this process.

    Raises:
        ConfigError: there is none.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415  it loads slowly

    found = SparkSession.getActiveSession() or SparkSession._instantiatedSession  # noqa: SLF001  of any thread
    if found is None:
        raise ConfigError("A write through a Java driver needs Spark, which does not run; make a GlueContext first.")
    return found


def properties_of(endpoint: JdbcEndpoint) -> Mapping[str, str]:
    """Return user and password as drivers want them."""
    return {name: value for name, value in (("user", endpoint.user), ("password", endpoint.password)) if value}


@contextmanager
def session(endpoint: JdbcEndpoint) -> Iterator[Session]:
    """Open a connection.

    Raises:
        TransientError: the server cannot be reached.
        ConfigError: there is no driver, or the server refuses the login or a statement.
    """
    spark = spark_session()
    driver = driver_of(spark, endpoint)
    jvm: Any = spark._jvm  # noqa: SLF001  as above
    given = jvm.java.util.Properties()
    for name, value in properties_of(endpoint).items():
        given.setProperty(name, value)
    with mapped(endpoint, "A connection"):
        connection = driver.java.connect(endpoint.jdbc_url, given)
    if connection is None:
        raise ConfigError(
            f"The driver {driver.name} does not know the url {endpoint.shown}; correct the url, or"
            " customJdbcDriverClassName."
        )
    begun = Session(connection, endpoint, write_dialect(endpoint.vendor, endpoint.jdbc_url))
    try:
        for statement in begun.dialect.begin:
            begun.run(statement)
        yield begun
    finally:
        # A driver may commit what is open when its connection is closed.
        with suppress(Py4JError):
            if not connection.getAutoCommit():
                connection.rollback()
        with suppress(Py4JError):
            connection.close()


def _translated(error: Py4JJavaError, endpoint: JdbcEndpoint, doing: str) -> EtlError:
    where, cause = f"{doing} at {endpoint.shown}", error.java_exception
    gateway = spark_session().sparkContext._gateway  # noqa: SLF001  as above
    for _ in range(_MOST_CAUSES):
        if cause is None:
            break
        if is_instance_of(gateway, cause, "java.sql.SQLException"):
            passes = any(is_instance_of(gateway, cause, f"java.sql.{name}") for name in _PASSING)
            return translated(cause.getSQLState() or "", cause.getMessage() or "", where, passes=passes)
        cause = cause.getCause()
    return PermanentError(f"{where} did not work: {error.java_exception.toString()}")


def _bind(prepared: Any, values: Sequence[str | int | None]) -> None:
    for n, value in enumerate(values, start=1):
        if isinstance(value, int):
            prepared.setLong(n, value)
        else:
            prepared.setString(n, value)


def _pattern(name: str | None, escape: str) -> str | None:
    """Return a pattern of the driver that matches a name alone, or more if the driver has no escape."""
    if name is None or not escape:
        return name
    return "".join(f"{escape}{one}" if one in {"%", "_", escape} else one for one in name)


def _text_of(result: Any, column: str) -> str:
    with suppress(Py4JJavaError):  # drivers of an old version of JDBC lack it
        return str(result.getString(column) or "")
    return ""
