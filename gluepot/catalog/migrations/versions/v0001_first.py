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
        "catalog_databases",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "catalog_tables",
        sa.Column("database", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "catalog_table_versions",
        sa.Column("database", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "catalog_partitions",
        sa.Column("database", _NAME, primary_key=True),
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("partition_values", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    for name in ("catalog_partitions", "catalog_table_versions", "catalog_tables", "catalog_databases"):
        op.drop_table(name)
