"""Finds Java, and configures and starts Spark. No module of this package imports PySpark when it is loaded."""
