"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NAME = sa.String(400)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "quality_results",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("evaluation", _NAME, nullable=False, unique=True),
        sa.Column("job", _NAME, nullable=False),
        sa.Column("context", _NAME, nullable=False),
        sa.Column("run_id", _NAME, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("completed_ms", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("quality_results_of_context", "quality_results", ["job", "context", "id"])
    op.create_table(
        "quality_metrics",
        sa.Column("result", sa.Integer, sa.ForeignKey("quality_results.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("metric", sa.String(1000), primary_key=True),
        sa.Column("value", sa.Double, nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_table("quality_metrics")
    op.drop_table("quality_results")
