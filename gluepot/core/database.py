"""Opens Gluepot's own SQL databases: SQLite in WAL mode, or PostgreSQL if several machines share it.

Opening a database first migrates it to the newest version. Several parts of Gluepot may share one database; each part
has its own tables and its own history of migrations.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import stamina
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from gluepot.core.errors import CheckpointError, ConfigError, TransientError
from gluepot.core.private import make_private_file, make_private_folder
from gluepot.core.statedir import VARIABLE as STATE_FOLDER
from gluepot.core.storage.filesystem import OsFileSystem

_BUSY_SECS = 30.0
_DISK = OsFileSystem()
_migrating = Lock()
"""Alembic keeps the migration that runs in a global variable, and threads may open several databases at once."""
_MIGRATION_LOCK = 7_305_001  # an arbitrary number; every Gluepot must request the same one from PostgreSQL


@dataclass(frozen=True, slots=True)
class Part:
    """A part of Gluepot that has tables in a database.

    Args:
        name: its name in messages, such as `ledger`.
        variable: the environment variable that holds the database's URL.
        head: its newest migration.
        migrations: folder of its Alembic scripts.
        version_table: where Alembic notes which migration the tables are at.
    """

    name: str
    variable: str
    head: str
    migrations: Path
    version_table: str


def open_engine(url: str, part: Part) -> Engine:
    """Connect to a database and bring a part's tables up to date.

    Args:
        url: `sqlite:///path` or `postgresql://user@host/database`.
        part: the owner of the tables.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    parsed = _parsed(url, part)
    try:
        engine = _engine(parsed)
        _migrate(engine, part)
    except ModuleNotFoundError as error:
        raise ConfigError(f"A PostgreSQL {part.name} needs psycopg; install gluepot[postgresql].") from error
    except OperationalError as error:
        shown = parsed.render_as_string(hide_password=True)
        raise TransientError(
            f"the {part.name} {shown} cannot be opened ({error.orig}); start it or correct the URL", 5.0
        ) from error
    return engine


@contextmanager
def transaction(engine: Engine, name: str, *, keep: bool = True) -> Iterator[Connection]:
    """Yield a connection whose changes are committed together at the end, or not at all if the block raises.

    Args:
        engine: engine of the database.
        name: name of the part, for messages.
        keep: False discards the changes in any case, to see what would happen.

    Raises:
        TransientError: the database cannot be reached, or is busy for too long.
    """
    try:
        with engine.connect() as connection, connection.begin() as begun:
            yield connection
            if not keep:
                begun.rollback()
    except OperationalError as error:
        raise TransientError(f"the {name} does not answer ({error.orig}); try again when it does", 5.0) from error


def _parsed(url: str, part: Part) -> URL:
    try:
        parsed = make_url(url)
        kind = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"{part.variable} is {url!r}; use sqlite:///path or postgresql://user@host/name.") from error
    match kind:
        case "sqlite":
            if parsed.database and parsed.database != ":memory:":
                _make_place(Path(parsed.database).absolute(), part)
            return parsed
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigError(f"{part.variable} names a {other} database; use sqlite:///path or postgresql://...")


def _make_place(database: Path, part: Part) -> None:
    """Make the folder and the empty file of a database, so that a power cut takes neither folder nor parents away.

    SQLite flushes the database and the names in its folder, but not the name of the folder. Without the flushes here,
    a file system that does only what POSIX demands may lose the folder with all that was committed.
    """
    folder = database.parent
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} of the {part.name} cannot be made ({error.strerror}); let {STATE_FOLDER} name a"
            f" folder that you may write to, or {part.variable} a database."
        ) from error
    if not database.exists():
        with suppress(OSError):  # SQLite says why it cannot be made
            make_private_file(database)  # SQLite gives its -wal and -shm the mode of the database
        for parent in folder.parents:
            with suppress(OSError):  # a folder of the system, which we may not open, was there before
                _DISK.sync_folder(parent)


def _engine(url: URL) -> Engine:
    # Errors, which are logged, do not quote the values of a statement: passwords of connections are among them.
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, hide_parameters=True)
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves, below
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECS * 1000:.0f}")
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives a power cut

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that reads first and writes later would fail if another one wrote in between. So every
        # transaction takes the write lock at its beginning and waits for it here.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


@stamina.retry(
    on=sqlite3.OperationalError, attempts=None, timeout=_BUSY_SECS, wait_initial=0.01, wait_max=0.2, wait_jitter=0.1
)
def _write_ahead(connection: sqlite3.Connection) -> None:
    # The first connection to a new database changes its mode. At that moment SQLite reports to all others at once that
    # the database is locked. It ignores the busy timeout, because two connections that wait for each other's read lock
    # would wait for ever.
    connection.execute("PRAGMA journal_mode = WAL")


def _migrate(engine: Engine, part: Part) -> None:
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        found = _version(connection, part)
        if found == part.head:
            return
        if found is not None and found > part.head:
            raise CheckpointError(
                f"the {part.name} has version {found}, this Gluepot knows {part.head}; use a newer Gluepot"
            )
        from alembic import command  # noqa: PLC0415  migrations are rare, and alembic is slow to load
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(part.migrations))
        config.attributes["connection"] = connection
        with _migrating:
            command.upgrade(config, "head")


def _version(connection: Connection, part: Part) -> str | None:
    if not inspect(connection).has_table(part.version_table):
        return None
    # The name is a constant in our code.
    found: str | None = connection.execute(text(f"SELECT version_num FROM {part.version_table}")).scalar()  # noqa: S608
    return found
