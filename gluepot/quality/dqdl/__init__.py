"""DQDL, the language of AWS Glue's data quality rules (docs/glue 12): text to rules and back, without Spark.

`parser.parse` reads a text. The parser is not loaded here: every job loads this package, and few have a text to read.
"""

from gluepot.quality.dqdl.ruleset import DqdlError, Ruleset

__all__ = ["DqdlError", "Ruleset"]
