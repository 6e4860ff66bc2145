"""The page of a running job: is it healthy, how late is it, and why.

history.py   what the newest batches did, bounded
verdict.py   one word and one sentence for a query
figures.py   numbers with units
charts.py    the points of the charts
origins.py   settings, each with where its value came from
records.py   rejected records, read beside the server
log_tail.py  the newest log lines
view.py      all of that for one query
render.py    templates
guard.py     which requests may change something
routes.py    paths
"""
