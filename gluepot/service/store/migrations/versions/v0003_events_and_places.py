"""Rules, events that wait for triggers, events to deliver; places of services, and of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_NAME = sa.String(255)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_rules",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("targets", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_waiting_events",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("trigger", _NAME, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("service_waiting_events_of_trigger", "service_waiting_events", ["trigger", "number"])
    op.create_table(
        "service_deliveries",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.Column("next_ms", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
    )
    op.create_index("service_deliveries_by_time", "service_deliveries", ["next_ms"])
    op.create_table(
        "service_places",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("seen_ms", sa.BigInteger, nullable=False),
    )
    op.add_column("service_runs", sa.Column("place", _NAME, nullable=False, server_default=""))
    op.add_column("service_runs", sa.Column("command", sa.String(50), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove them."""
    op.drop_column("service_runs", "command")
    op.drop_column("service_runs", "place")
    op.drop_table("service_places")
    op.drop_table("service_deliveries")
    op.drop_table("service_waiting_events")
    op.drop_table("service_rules")
