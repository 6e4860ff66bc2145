"""Crawlers: from the files below a folder to tables of the Data Catalog.

`listing` finds the files, `classify` reads their heads, `grouping` decides which folders are tables, `plan` compares
them with the catalog, `run` writes. `queues` receives messages about objects, and `events` says which folders these
name. What is decided is decided by pure functions over what was found.
"""
