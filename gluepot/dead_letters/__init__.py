"""`gluepot dlq`: shows, sends again or removes records that could not continue.

folder.py    where they lie, and which files count
letters.py   the records in a file
show.py      as text and as JSON
replay.py    back to a topic, with ledger.py beside
purge.py     away with them
commands.py  the command line
"""
