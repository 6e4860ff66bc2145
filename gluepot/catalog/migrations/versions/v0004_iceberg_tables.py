"""Tables of Iceberg, which jobs keep with Iceberg's JDBC catalog in the same database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NAME = sa.String(255)


def upgrade() -> None:
    """Note which entries are tables of Iceberg; make Iceberg's own tables where no job has made them."""
    op.add_column("catalog_tables", sa.Column("iceberg_catalog", _NAME))
    op.add_column("catalog_tables", sa.Column("metadata_location", sa.Text))
    there = set(sa.inspect(op.get_bind()).get_table_names())
    if "iceberg_tables" not in there:
        op.create_table(
            "iceberg_tables",
            sa.Column("catalog_name", _NAME, primary_key=True),
            sa.Column("table_namespace", _NAME, primary_key=True),
            sa.Column("table_name", _NAME, primary_key=True),
            sa.Column("metadata_location", sa.String(1000)),
            sa.Column("previous_metadata_location", sa.String(1000)),
            sa.Column("iceberg_type", sa.String(5)),
        )
    elif "iceberg_type" not in {one["name"] for one in sa.inspect(op.get_bind()).get_columns("iceberg_tables")}:
        op.add_column("iceberg_tables", sa.Column("iceberg_type", sa.String(5)))
    if "iceberg_namespace_properties" not in there:
        op.create_table(
            "iceberg_namespace_properties",
            sa.Column("catalog_name", _NAME, primary_key=True),
            sa.Column("namespace", _NAME, primary_key=True),
            sa.Column("property_key", _NAME, primary_key=True),
            sa.Column("property_value", sa.String(1000)),
        )
    op.execute(
        "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)"
        " SELECT 'glue_catalog', name, 'exists', 'true' FROM catalog_databases WHERE name NOT IN"
        " (SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = 'glue_catalog')"
    )


def downgrade() -> None:
    """Forget the links. Iceberg's own tables stay: jobs have their tables in them."""
    op.drop_column("catalog_tables", "metadata_location")
    op.drop_column("catalog_tables", "iceberg_catalog")
