"""All kinds of differential tests. A kind is a module of `tests.differential.kinds` with a class `Kind`."""

from __future__ import annotations

from importlib import import_module

from tests.differential.kind import Kind

NAMES: tuple[str, ...] = (
    "accounts",
    "avro",
    "casts",
    "csv",
    "cuts",
    "cuts_lakes",
    "databases_h2",
    "databases_mariadb",
    "databases_postgresql",
    "dqdl",
    "ion",
    "json",
    "merge_delta",
    "merge_iceberg",
    "numbers",
    "parquet",
    "predicates",
    "sql",
    "writes",
    "xml",
    "zones",
)


def kind(name: str) -> Kind:
    """Return a new object of the kind with this name."""
    made: Kind = import_module(f"tests.differential.kinds.{name}").Kind()
    return made
