"""The service behind `gluepot serve`: AWS Glue's API for unmodified clients, and the runs behind it."""
