"""Queries that DuckDB answers as Spark would (decision 0046): Spark's plan becomes SQL, and its result a file."""
