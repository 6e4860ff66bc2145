"""`python -m gluepot`."""

from gluepot.cli import main

main()
