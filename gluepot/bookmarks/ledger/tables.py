"""The ledger's tables; `migrations` creates them in a database."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, Text

_NAME = String(400)

metadata = MetaData()

jobs = Table(
    "jobs",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("uid", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("run", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", Integer, nullable=False),
    Column("paused", Boolean, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("job", _NAME, nullable=False),
    Column("run_id", _NAME, nullable=False),
    Column("number", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("option", String(40), nullable=False),
    Column("status", String(40), nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("base", Integer, nullable=False),
    Column("state", Integer),
    Column("error", Text),
    Column("account", Text),
    Index("runs_of_job", "job", "id"),
)

bookmarks = Table(
    "bookmarks",
    metadata,
    Column("job", _NAME, primary_key=True),
    Column("ctx", _NAME, primary_key=True),
    Column("state", Integer, primary_key=True),
    Column("parent", Integer),
    Column("cause", String(40), nullable=False),
    Column("run_id", _NAME),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("job", _NAME, primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("beat", Integer, nullable=False),
    Column("held", Boolean, nullable=False),
    Column("run_id", _NAME, nullable=False),
    Column("host", _NAME, nullable=False),
    Column("pid", Integer, nullable=False),
)

commits = Table(
    "commits",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run", Integer, nullable=False, index=True),
    Column("ctx", _NAME, nullable=False),
    Column("target", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("files", Integer, nullable=False),
)

announced = Table(
    "announced",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("job", _NAME, nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("write", Text, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("actor", _NAME, nullable=False),
    Column("job", _NAME, nullable=False, index=True),
    Column("action", String(40), nullable=False),
    Column("detail", Text, nullable=False),
    Column("before", Integer, nullable=False),
    Column("after", Integer, nullable=False),
)
