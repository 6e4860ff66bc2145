"""Reading a table of PostgreSQL, side by side with Spark's own JDBC reader."""
