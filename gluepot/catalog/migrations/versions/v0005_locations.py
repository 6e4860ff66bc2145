"""The locations of partitions, which a crawl of new folders reads without their bodies."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make an index of them. PostgreSQL, whose indexes hold no long texts, takes them out of the bodies."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE INDEX catalog_partition_locations ON catalog_partitions"
            " (database, name, json_extract(body, '$.StorageDescriptor.Location'))"
        )


def downgrade() -> None:
    """Remove it."""
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index("catalog_partition_locations", "catalog_partitions")
