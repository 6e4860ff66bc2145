"""Transforms from and to collections of frames (docs/glue 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from awsglue.collection import DynamicFrameCollection
from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform
from gluepot.streaming.query import session


class FlatMap(GlueTransform):
    """Apply a transform to every frame of a collection."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        BaseTransform: type[GlueTransform],
        frame_name: str,
        transformation_ctx: str = "",
        **base_kwargs: Any,
    ) -> DynamicFrameCollection:
        """Return the collection of the results."""
        return dfc.flatmap(
            lambda frame, ctx: BaseTransform.apply(**{frame_name: frame, "transformation_ctx": ctx, **base_kwargs}),
            transformation_ctx,
        )


class MapToCollection(GlueTransform):
    """Apply a function to every frame of a collection."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        callable: Callable[..., Any],
        transformation_ctx: str = "",
    ) -> DynamicFrameCollection:
        """Return the collection of the results."""
        return dfc.map(callable, transformation_ctx)


class Relationalize(GlueTransform):
    """Make flat tables of nested records."""

    def __call__(
        self,
        frame: DynamicFrame,
        staging_path: str | None = None,
        name: str = "roottable",
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return the root table and one table per array."""
        return frame.relationalize(
            name,
            staging_path or session.current().arguments.get("TempDir"),
            options or {},
            transformation_ctx,
            info,
            stageThreshold,
            totalThreshold,
        )


class SelectFromCollection(GlueTransform):
    """Take one frame out of a collection."""

    def __call__(
        self,
        dfc: DynamicFrameCollection,
        key: str,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the frame of this name; an empty one if there is none."""
        return dfc.select(key, transformation_ctx)
