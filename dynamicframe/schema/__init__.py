"""Schemas of chunks: type names, merge, alignment, storable forms."""

from dynamicframe.schema.align import align, concat
from dynamicframe.schema.glue_types import arrow_type, glue_name
from dynamicframe.schema.merge import choice_field, merge_fields, merge_schemas
from dynamicframe.schema.storable import choice_to_string, without_nulls

__all__ = [
    "align",
    "arrow_type",
    "choice_field",
    "choice_to_string",
    "concat",
    "glue_name",
    "merge_fields",
    "merge_schemas",
    "without_nulls",
]
