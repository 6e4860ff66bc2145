"""Functions, partition indexes and connections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NAME = sa.String(255)


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "catalog_entries",
        sa.Column("kind", sa.String(20), primary_key=True),
        sa.Column("database", _NAME, primary_key=True),
        sa.Column("table_name", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Remove it."""
    op.drop_table("catalog_entries")
