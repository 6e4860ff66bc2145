"""How Spark is found, configured and started. No module in here imports PySpark when it is loaded."""
