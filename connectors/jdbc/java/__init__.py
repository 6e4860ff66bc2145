"""Any database that has a JDBC driver: writes that are published once, through the driver that the user brings."""
