"""What all sides do with the rows: the columns of a mapping, and the SQL of an aggregation."""

from __future__ import annotations

MAPPING = {
    "json": (
        ("order_id", "long", "order_id", "long"),
        ("ordered_at", "string", "bought_at", "string"),
        ("user_id", "long", "customer", "string"),
        ("country", "string", "country", "string"),
        ("category", "string", "category", "string"),
        ("quantity", "long", "quantity", "int"),
        ("price", "double", "price", "double"),
        ("device.os", "string", "os", "string"),
        ("device.mobile", "boolean", "mobile", "boolean"),
    ),
    "csv": (
        ("order_id", "string", "order_id", "long"),
        ("ordered_at", "string", "bought_at", "string"),
        ("user_id", "string", "customer", "string"),
        ("country", "string", "country", "string"),
        ("category", "string", "category", "string"),
        ("quantity", "string", "quantity", "int"),
        ("price", "string", "price", "double"),
        ("page", "string", "page", "string"),
    ),
}
"""Source path, its type, name and type in the table. Values of CSV are texts, as a Glue script gets them."""

SQL_TYPES = {"long": "BIGINT", "string": "STRING", "int": "INT", "double": "DOUBLE", "boolean": "BOOLEAN"}
PARTITION_KEY = "country"

AGGREGATION = """
SELECT country, category, COUNT(*) AS orders, COUNT(DISTINCT user_id) AS users,
       CAST(SUM(CAST(quantity AS BIGINT)) AS BIGINT) AS items,
       CAST(SUM(CAST(ROUND(CAST(price AS DOUBLE) * 100) AS BIGINT)) AS BIGINT) AS cents,
       MAX(CAST(order_id AS BIGINT)) AS newest
FROM orders
WHERE page <> '/item/17'
GROUP BY country, category
"""
"""Runs as it is on Spark and on DuckDB. Sums are of whole numbers, so that their order does not matter."""


def selected(form: str) -> str:
    """Return the mapping as the list of a SELECT, for sides without ApplyMapping."""
    return ", ".join(f"CAST({path} AS {SQL_TYPES[kind]}) AS {name}" for path, _, name, kind in MAPPING[form])
