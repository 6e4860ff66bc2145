"""Reading a table through its manifests: whole batches only, at any instant.

table = open_table("s3://lake/clicks")
table.to_arrow(["event_id", "day"])
"""

from gluepot.tables.table import Table, open_table

__all__ = ["Table", "open_table"]
