"""The visual transforms of Glue Studio, such as `frame.gs_now(...)` (docs/glue 13.2).

Each is a function over a DataFrame that uses only Spark SQL. `awsglue.visual.methods` makes them methods of
DynamicFrame. Generated scripts import the modules `gs_now`, `gs_derived`, ..., which also make them methods of
DataFrame.
"""

from awsglue.visual.rows import (
    gs_derived,
    gs_explode,
    gs_flatten,
    gs_identifier,
    gs_lookup,
    gs_null_rows,
    gs_pivot,
    gs_repartition,
    gs_unpivot,
    gs_uuid,
)
from awsglue.visual.texts import (
    gs_array_to_cols,
    gs_concat,
    gs_extract_json,
    gs_parse_json,
    gs_regex_extract,
    gs_split,
)
from awsglue.visual.times import gs_format_timestamp, gs_now, gs_to_timestamp

__all__ = [
    "gs_array_to_cols",
    "gs_concat",
    "gs_derived",
    "gs_explode",
    "gs_extract_json",
    "gs_flatten",
    "gs_format_timestamp",
    "gs_identifier",
    "gs_lookup",
    "gs_now",
    "gs_null_rows",
    "gs_parse_json",
    "gs_pivot",
    "gs_regex_extract",
    "gs_repartition",
    "gs_split",
    "gs_to_timestamp",
    "gs_unpivot",
    "gs_uuid",
]
