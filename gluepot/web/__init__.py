"""What the pages that a browser shows have in common.

render.py    templates, static files, and the headers of every answer
requests.py  checks of where a request comes from
figures.py   numbers with units
static       style, icon and scripts of every page
templates    the parts of every page
"""
