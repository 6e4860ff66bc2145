"""TPC-H and TPC-DS as jobs: Glue scripts beside stock Spark and DuckDB."""
