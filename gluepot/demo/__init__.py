"""`gluepot demo`: the product on one screen."""

from gluepot.demo.report import show
from gluepot.demo.scene import run_demo

__all__ = ["run_demo", "show"]
