"""The tables of data quality results; `migrations` brings a database to them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

_NAME = String(400)

metadata = MetaData()

results = Table(
    "quality_results",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("evaluation", _NAME, nullable=False, unique=True),
    Column("job", _NAME, nullable=False),
    Column("context", _NAME, nullable=False),
    Column("run_id", _NAME, nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("completed_ms", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Index("quality_results_of_context", "job", "context", "id"),
)

metrics = Table(
    "quality_metrics",
    metadata,
    Column("result", Integer, ForeignKey("quality_results.id", ondelete="CASCADE"), primary_key=True),
    Column("metric", String(1000), primary_key=True),
    Column("value", Double, nullable=False),
)
