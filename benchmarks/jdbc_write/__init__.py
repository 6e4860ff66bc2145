"""Writing to a table of MariaDB, side by side with Spark's own JDBC writer and with the client in a tight loop."""
