"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NAME = sa.String(255)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_jobs",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", _NAME, nullable=False, unique=True),
        sa.Column("job", _NAME, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("service_runs_of_job", "service_runs", ["job", "number"])
    op.create_index("service_runs_by_state", "service_runs", ["state", "number"])
    op.create_table(
        "service_tags",
        sa.Column("arn", sa.String(1000), primary_key=True),
        sa.Column("key", sa.String(128), primary_key=True),
        sa.Column("value", sa.String(256), nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_table("service_tags")
    op.drop_table("service_runs")
    op.drop_table("service_jobs")
