"""The account of records of a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("account", sa.Text))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("runs", "account")
