"""The base of all other packages: errors, clock, storage, logging. It imports neither siblings nor Spark."""
