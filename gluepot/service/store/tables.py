"""The tables of the service; `migrations` brings a database to them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text

_NAME = String(255)

metadata = MetaData()

jobs = Table(
    "service_jobs",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)

runs = Table(
    "service_runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", _NAME, nullable=False, unique=True),
    Column("job", _NAME, nullable=False),
    Column("state", String(20), nullable=False),
    Column("details", Text, nullable=False),
    Index("service_runs_of_job", "job", "number"),
    Index("service_runs_by_state", "state", "number"),
)

tags = Table(
    "service_tags",
    metadata,
    Column("arn", String(1000), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("value", String(256), nullable=False),
)
