"""The page of a running job: whether it is healthy, how late it is, and why.

history.py   the newest batches, up to a limit
verdict.py   one word and one sentence for a query
charts.py    the points of the charts
origins.py   settings, each with the origin of its value
records.py   rejected records, read in a separate thread
log_tail.py  the newest log lines
view.py      all of that for one query
guard.py     checks of requests that may change something
routes.py    paths
"""
