"""Writes that a run has announced, until it commits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NAME = sa.String(400)


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "announced",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("job", _NAME, nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("write", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("announced")
