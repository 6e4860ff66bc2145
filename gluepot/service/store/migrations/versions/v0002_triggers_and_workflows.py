"""Triggers, their firings, workflows and their runs; runs of jobs know the chain that they belong to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NAME = sa.String(255)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "service_triggers",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("workflow", _NAME, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
        sa.Column("next_ms", sa.BigInteger),
    )
    op.create_index("service_triggers_by_time", "service_triggers", ["next_ms"])
    op.create_index("service_triggers_of_workflow", "service_triggers", ["workflow", "name"])
    op.create_table(
        "service_firings",
        sa.Column("trigger", _NAME, primary_key=True),
        sa.Column("occasion", _NAME, primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_workflows",
        sa.Column("name", _NAME, primary_key=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("modified_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "service_workflow_runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", _NAME, nullable=False, unique=True),
        sa.Column("workflow", _NAME, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("service_workflow_runs_of_workflow", "service_workflow_runs", ["workflow", "number"])
    op.create_index("service_workflow_runs_by_status", "service_workflow_runs", ["status", "number"])
    op.add_column("service_runs", sa.Column("chain", _NAME, nullable=False, server_default=""))
    op.add_column("service_runs", sa.Column("followed", sa.Boolean, nullable=False, server_default=sa.true()))
    op.create_index("service_runs_of_chain", "service_runs", ["chain", "number"])
    op.create_index("service_runs_to_follow", "service_runs", ["followed", "number"])


def downgrade() -> None:
    """Remove them."""
    op.drop_index("service_runs_to_follow", "service_runs")
    op.drop_index("service_runs_of_chain", "service_runs")
    op.drop_column("service_runs", "followed")
    op.drop_column("service_runs", "chain")
    op.drop_table("service_workflow_runs")
    op.drop_table("service_workflows")
    op.drop_table("service_firings")
    op.drop_table("service_triggers")
