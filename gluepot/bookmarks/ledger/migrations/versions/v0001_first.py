"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NAME = sa.String(400)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "jobs",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("uid", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("state", sa.Integer, nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("job", _NAME, nullable=False),
        sa.Column("run_id", _NAME, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("option", sa.String(40), nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("state", sa.Integer),
        sa.Column("error", sa.Text),
    )
    op.create_index("runs_of_job", "runs", ["job", "id"])
    op.create_table(
        "bookmarks",
        sa.Column("job", _NAME, primary_key=True),
        sa.Column("ctx", _NAME, primary_key=True),
        sa.Column("state", sa.Integer, primary_key=True),
        sa.Column("parent", sa.Integer),
        sa.Column("cause", sa.String(40), nullable=False),
        sa.Column("run_id", _NAME),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("job", _NAME, primary_key=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("beat", sa.Integer, nullable=False),
        sa.Column("held", sa.Boolean, nullable=False),
        sa.Column("run_id", _NAME, nullable=False),
        sa.Column("host", _NAME, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
    )
    op.create_table(
        "commits",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.Integer, nullable=False, index=True),
        sa.Column("ctx", _NAME, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("files", sa.Integer, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("actor", _NAME, nullable=False),
        sa.Column("job", _NAME, nullable=False, index=True),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("before", sa.Integer, nullable=False),
        sa.Column("after", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """Remove the tables."""
    for name in ("audit", "commits", "leases", "bookmarks", "runs", "jobs"):
        op.drop_table(name)
