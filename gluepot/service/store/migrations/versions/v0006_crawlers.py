"""Crawlers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_crawlers",
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("schedule", sa.Text, nullable=False),
        sa.Column("is_scheduled", sa.Boolean, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
        sa.Column("next_ms", sa.BigInteger),
    )
    op.create_index("service_crawlers_by_time", "service_crawlers", ["next_ms"])


def downgrade() -> None:
    """Remove them."""
    op.drop_table("service_crawlers")
