"""Which database the ledger is, how to reach it, and bringing its tables up to date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from batch.ledger.ledger import Ledger
from etlcore.clock import Clock
from etlcore.errors import CheckpointError, ConfigError, TransientError
from etlcore.statedir import state_root

HEAD = "0001"
"""The newest migration; a test holds it against the scripts."""

_BUSY_MS = 30_000
_MIGRATION_LOCK = 7_305_001  # any number, as long as every Gluepot asks PostgreSQL for the same one


def ledger_url(environ: Mapping[str, str]) -> str:
    """Return the ledger's URL: `GLUEPOT_LEDGER`, or a SQLite file in the state folder."""
    return environ.get("GLUEPOT_LEDGER") or f"sqlite:///{state_root(environ) / 'ledger.db'}"


def open_ledger(url: str, clock: Clock) -> Ledger:
    """Connect and bring the tables up to date.

    Args:
        url: `sqlite:///path` or `postgresql://user@host/database`.
        clock: for time stamps and waits.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    parsed = _parsed(url)
    try:
        engine = _engine(parsed)
        _migrate(engine)
    except ModuleNotFoundError as error:
        raise ConfigError("A PostgreSQL ledger needs psycopg; install gluepot[postgresql].") from error
    except OperationalError as error:
        shown = parsed.render_as_string(hide_password=True)
        raise TransientError(
            f"the ledger {shown} cannot be opened ({error.orig}); start it or correct the URL", 5.0
        ) from (error)
    return Ledger(engine, clock)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        kind = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"GLUEPOT_LEDGER is {url!r}; use sqlite:///path or postgresql://user@host/name.") from error
    match kind:
        case "sqlite":
            if parsed.database and parsed.database != ":memory:":
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            return parsed
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigError(f"GLUEPOT_LEDGER names a {other} database; use sqlite:///path or postgresql://...")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver's guess
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives a power cut

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A reader that later writes would fail where another writer came first; so all of them queue up here.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _migrate(engine: Engine) -> None:
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        found = _version(connection)
        if found == HEAD:
            return
        if found is not None and found > HEAD:
            raise CheckpointError(f"the ledger has version {found}, this Gluepot knows {HEAD}; use a newer Gluepot")
        from alembic import command  # noqa: PLC0415  the way up is rare, and alembic takes its time to load
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _version(connection: Any) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found
