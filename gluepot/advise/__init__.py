"""`gluepot advise`: what a recorded stream needs."""

from gluepot.advise.commands import advise_from

__all__ = ["advise_from"]
