"""Gluepot runs AWS Glue's streaming and batch scripts, unchanged, on Spark.

Public are `gluepot.table`, `gluepot.sources`, `gluepot.testing`, `gluepot.errors`, `gluepot.connector_api`, and the
names that Glue itself gives to scripts (`awsglue`, `awsglueml`, `gs_*`). Every other module is private: it may change
with any version.
"""
