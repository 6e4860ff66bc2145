"""Metrics, and changes of the catalog that were told as events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_NAME = sa.String(255)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_told_changes",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_metrics",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("namespace", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("dimensions", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("newest_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("service_metrics_by_name", "service_metrics", ["namespace", "name", "number"])
    op.create_table(
        "service_metric_minutes",
        sa.Column("metric", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at_ms", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("unit", sa.String(20), primary_key=True),
        sa.Column("samples", sa.Double, nullable=False),
        sa.Column("total", sa.Double, nullable=False),
        sa.Column("least", sa.Double, nullable=False),
        sa.Column("most", sa.Double, nullable=False),
        sa.Column("distribution", sa.Text, nullable=False),
    )
    op.create_index("service_metric_minutes_by_time", "service_metric_minutes", ["at_ms"])
    op.create_table(
        "service_metric_reports",
        sa.Column("run", _NAME, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    for name in ("service_metric_reports", "service_metric_minutes", "service_metrics", "service_told_changes"):
        op.drop_table(name)
