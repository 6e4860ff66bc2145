"""Patterns that clients, files and tables supply, matched in bounded time.

`wildcards` matches globs, wildcards and LIKE in linear time. `expressions` matches regular expressions: in linear time
where RE2 gives the same answer as Python, and with a deadline where it does not (decision 0079).
"""
