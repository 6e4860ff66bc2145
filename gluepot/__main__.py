"""`python -m gluepot`."""

from gluepot.cli.main import main

main()
