"""The tables of data quality results and rulesets; `migrations` brings a database to them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

_NAME = String(400)

metadata = MetaData()

results = Table(
    "quality_results",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("result_id", String(64), nullable=False),
    Column("evaluation", _NAME, nullable=False, unique=True),
    Column("job", _NAME, nullable=False),
    Column("context", _NAME, nullable=False),
    Column("run_id", _NAME, nullable=False),
    Column("ruleset", _NAME, nullable=False),
    Column("ruleset_run_id", _NAME, nullable=False),
    Column("catalog_id", _NAME, nullable=False),
    Column("database_name", _NAME, nullable=False),
    Column("table_name", _NAME, nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("completed_ms", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Index("quality_results_of_context", "job", "context", "id"),
    Index("quality_results_by_result_id", "result_id", unique=True),
    Index("quality_results_of_table", "database_name", "table_name", "id"),
)

metrics = Table(
    "quality_metrics",
    metadata,
    Column("result", Integer, ForeignKey("quality_results.id", ondelete="CASCADE"), primary_key=True),
    Column("metric", String(1000), primary_key=True),
    Column("value", Double, nullable=False),
)

rulesets = Table(
    "quality_rulesets",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("ruleset", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("catalog_id", _NAME, nullable=False),
    Column("database_name", _NAME, nullable=False),
    Column("table_name", _NAME, nullable=False),
    Column("rules", Integer, nullable=False),
    Column("recommendation_run_id", _NAME, nullable=False),
    Column("security_configuration", _NAME, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)
