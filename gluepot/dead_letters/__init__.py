"""`gluepot dlq`: records that could not go on, looked at, sent again or removed.

folder.py    where they lie, and which files count
letters.py   the records in a file
show.py      as text and as JSON
replay.py    back to a topic, with ledger.py beside
purge.py     away with them
commands.py  the command line
"""
