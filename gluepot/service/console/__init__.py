"""The console of the service: what a browser shows under `/console/`, for people who know Glue's console.

sessions.py   who has logged in: links that work once, cookies, and the secret of forms
app.py        paths: login, pages, actions
pages.py      what each page shows, read through the operations of the API and from the database
values.py     runs, triggers and more as people read them; pure
log_lines.py  lines of logs as people read them; pure
graph.py      where the nodes and the edges of a workflow's graph are drawn; pure
"""
