"""The product, wrong: a start that another driver's lease refuses does not say what to do."""

from __future__ import annotations

from gluepot.cli.main import main
from gluepot.core.errors import LeaseHeld

if __name__ == "__main__":
    LeaseHeld.__str__ = lambda _: "LeaseHeld"
    main()
