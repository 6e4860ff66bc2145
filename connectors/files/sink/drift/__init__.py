"""Columns whose type changes from one batch to the next, in files that plain readers read side by side.

Spark merges two Parquet schemas only if a column has one type in both; structs may have more fields, at any depth. So a
column's type is decided by the first batch that has it, and values of another type go where the policy says.

    policy.py    what is to become of them, per column
    layout.py    the columns a table has so far, and whose values they hold
    fitting.py   which values a column can take in without its type changing
    resolve.py   rows into the table's columns: what a task does
    settle.py    tasks of one batch that brought the same new column with different types: what the driver does
"""

from gluepot.connectors.files.sink.drift.layout import Layout, TableColumn
from gluepot.connectors.files.sink.drift.policy import Drift, DriftPolicy
from gluepot.connectors.files.sink.drift.resolve import Refused, Resolver
from gluepot.connectors.files.sink.drift.settle import settle

__all__ = ["Drift", "DriftPolicy", "Layout", "Refused", "Resolver", "TableColumn", "settle"]
