"""Studio's packaged transforms as methods: of DynamicFrame, and of DataFrame once scripts import their modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from pyspark.sql import DataFrame

from awsglue import visual

if TYPE_CHECKING:
    from awsglue.dynamicframe import DynamicFrame

P = ParamSpec("P")


def method(
    change: Callable[Concatenate[DataFrame, P], DataFrame],
) -> Callable[Concatenate[DynamicFrame, P], DynamicFrame]:
    """Return a method of DynamicFrame that applies a function for DataFrames.

    The method returns a frame without columns unchanged, for example if bookmarks left nothing to read.
    """

    @wraps(change)
    def through_rows(self: DynamicFrame, /, *args: P.args, **kwargs: P.kwargs) -> DynamicFrame:
        rows = self.toDF()
        if not rows.columns:
            return self
        return type(self).fromDF(change(rows, *args, **kwargs), self.glue_ctx, self.name)

    plain = inspect.signature(change)
    own = [one.replace(name="self") if at == 0 else one for at, one in enumerate(plain.parameters.values())]
    # `gluepot check` and editors read this signature, instead of the function's own that `wraps` passes on.
    through_rows.__signature__ = plain.replace(  # type: ignore[attr-defined]
        parameters=own, return_annotation="DynamicFrame"
    )
    return through_rows


class VisualTransforms:
    """The methods that Glue Studio's modules `gs_...` add; here they exist without an import."""

    gs_array_to_cols = method(visual.gs_array_to_cols)
    gs_concat = method(visual.gs_concat)
    gs_derived = method(visual.gs_derived)
    gs_explode = method(visual.gs_explode)
    gs_extract_json = method(visual.gs_extract_json)
    gs_flatten = method(visual.gs_flatten)
    gs_format_timestamp = method(visual.gs_format_timestamp)
    gs_identifier = method(visual.gs_identifier)
    gs_lookup = method(visual.gs_lookup)
    gs_now = method(visual.gs_now)
    gs_null_rows = method(visual.gs_null_rows)
    gs_parse_json = method(visual.gs_parse_json)
    gs_pivot = method(visual.gs_pivot)
    gs_regex_extract = method(visual.gs_regex_extract)
    gs_repartition = method(visual.gs_repartition)
    gs_split = method(visual.gs_split)
    gs_to_timestamp = method(visual.gs_to_timestamp)
    gs_unpivot = method(visual.gs_unpivot)
    gs_uuid = method(visual.gs_uuid)


def on_data_frames(name: str) -> None:
    """Make a transform a method of Spark's DataFrame, as importing its module does in Glue."""
    setattr(DataFrame, name, getattr(visual, name))
