"""Definitions that are kept and returned, and the versions of schemas."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_definitions",
        sa.Column("kind", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(1000), primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_schema_versions",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("schema", sa.String(520), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("schema", "number"),
    )
    op.create_index("service_schema_versions_by_digest", "service_schema_versions", ["schema", "digest"])


def downgrade() -> None:
    """Remove them."""
    op.drop_table("service_schema_versions")
    op.drop_table("service_definitions")
