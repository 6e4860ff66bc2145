"""Alarms, and what runs cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "service_alarms",
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("configured_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("reason_data", sa.Text, nullable=False),
        sa.Column("state_ms", sa.BigInteger, nullable=False),
        sa.Column("transitioned_ms", sa.BigInteger, nullable=False),
        sa.Column("next_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("service_alarms_by_time", "service_alarms", ["next_ms"])
    op.create_table(
        "service_alarm_history",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("alarm", sa.String(255), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_index("service_alarm_history_of_alarm", "service_alarm_history", ["alarm", "number"])
    op.create_index("service_alarm_history_by_time", "service_alarm_history", ["at_ms"])
    op.create_table(
        "service_costs",
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("job", sa.String(255), primary_key=True),
        sa.Column("tags_digest", sa.String(64), primary_key=True),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("dpu_secs", sa.Double, nullable=False),
        sa.Column("usd", sa.Double, nullable=False),
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_table("service_costs")
    op.drop_table("service_alarm_history")
    op.drop_table("service_alarms")
