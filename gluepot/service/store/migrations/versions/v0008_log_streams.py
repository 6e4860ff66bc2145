"""The index of log streams, and text of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make their tables. The service adds the runs that there are, a few at a time."""
    op.add_column("service_runs", sa.Column("logged", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index(
        "service_runs_to_log",
        "service_runs",
        ["place", "number"],
        sqlite_where=sa.text("logged = 0"),
        postgresql_where=sa.text("NOT logged"),
    )
    name = sa.String(512).with_variant(sa.String(512, collation="C"), "postgresql")
    op.create_table(
        "service_log_streams",
        sa.Column("log_group", sa.String(512), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", name, nullable=False),
        sa.Column("run", sa.String(255), nullable=False),
        sa.Column("place", sa.String(255), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("first_ms", sa.BigInteger, nullable=False),
        sa.Column("last_ms", sa.BigInteger, nullable=False),
        sa.Column("written_ms", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("carried_ms", sa.BigInteger, nullable=False),
        sa.Column("is_open", sa.Boolean, nullable=False),
        sa.UniqueConstraint("log_group", "name"),
    )
    ranges = ["log_group", "number", "is_open", "last_ms", "first_ms"]
    op.create_index("service_log_streams_by_range", "service_log_streams", ranges)
    op.create_index("service_log_streams_by_time", "service_log_streams", ["log_group", "written_ms", "name"])
    op.create_table(
        "service_log_chunks",
        sa.Column("log_group", sa.String(512), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("begins", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("ends", sa.BigInteger, nullable=False),
        sa.Column("last_ms", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_table("service_log_chunks")
    op.drop_table("service_log_streams")
    op.drop_index("service_runs_to_log", "service_runs")
    op.drop_column("service_runs", "logged")
