"""Schemas of chunks: type names, merge, alignment, storable forms."""

from gluepot.frames.schema.align import align, concat
from gluepot.frames.schema.glue_types import arrow_type, glue_name
from gluepot.frames.schema.integers import observed, unmarked
from gluepot.frames.schema.merge import choice_field, grown, merge_fields, merge_known, merge_schemas
from gluepot.frames.schema.storable import (
    choice_to_string,
    is_storable,
    loses_values,
    storable_field,
    untyped_values,
    without_nulls,
)

__all__ = [
    "align",
    "arrow_type",
    "choice_field",
    "choice_to_string",
    "concat",
    "glue_name",
    "grown",
    "is_storable",
    "loses_values",
    "merge_fields",
    "merge_known",
    "merge_schemas",
    "observed",
    "storable_field",
    "unmarked",
    "untyped_values",
    "without_nulls",
]
