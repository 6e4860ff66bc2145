"""DQDL, the language of AWS Glue's data quality rules (docs/glue 12): text to rules and back, without Spark."""

from gluepot.quality.dqdl.parser import parse
from gluepot.quality.dqdl.ruleset import DqdlError, Ruleset

__all__ = ["DqdlError", "Ruleset", "parse"]
