"""What the API's results need beside outcomes, and rulesets."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from gluepot.quality.results import result_id

revision = "0002"
down_revision = "0001"

_NAME = sa.String(400)
_EMPTY = ("ruleset", "ruleset_run_id", "catalog_id", "database_name", "table_name")

_results = sa.table(
    "quality_results",
    sa.column("id", sa.Integer),
    sa.column("result_id", sa.String),
    sa.column("evaluation", sa.String),
    sa.column("body", sa.Text),
)


def upgrade() -> None:
    """Add the columns, give earlier results their ids, and create the table of rulesets."""
    op.add_column("quality_results", sa.Column("result_id", sa.String(64), nullable=False, server_default=""))
    for name in _EMPTY:
        op.add_column("quality_results", sa.Column(name, _NAME, nullable=False, server_default=""))
    connection = op.get_bind()
    for row in connection.execute(sa.select(_results)).mappings().all():
        body = json.loads(row["body"])
        # Earlier results did not say which analyzer measured what, so each metric stands for an analyzer.
        analyzed = body.pop("analyzed", {})
        body["analyzers"] = [
            {"analyzer": name, "metrics": {name: value}, "reason": ""} for name, value in analyzed.items()
        ]
        values = {"result_id": result_id(row["evaluation"]), "body": json.dumps(body)}
        connection.execute(sa.update(_results).where(_results.c.id == row["id"]).values(values))
    op.create_index("quality_results_by_result_id", "quality_results", ["result_id"], unique=True)
    op.create_index("quality_results_of_table", "quality_results", ["database_name", "table_name", "id"])
    op.create_table(
        "quality_rulesets",
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("catalog_id", _NAME, nullable=False),
        sa.Column("database_name", _NAME, nullable=False),
        sa.Column("table_name", _NAME, nullable=False),
        sa.Column("rules", sa.Integer, nullable=False),
        sa.Column("recommendation_run_id", _NAME, nullable=False),
        sa.Column("security_configuration", _NAME, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Remove the table and the columns."""
    op.drop_table("quality_rulesets")
    op.drop_index("quality_results_of_table", "quality_results")
    op.drop_index("quality_results_by_result_id", "quality_results")
    for name in ("result_id", *_EMPTY):
        op.drop_column("quality_results", name)
