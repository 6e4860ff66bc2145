"""Transforms of records: choose, replace, move, join and sample them (docs/glue 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from awsglue.collection import DynamicFrameCollection
from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform


class Coalesce(GlueTransform):
    """Put records together in fewer tasks."""

    def __call__(
        self,
        frame: DynamicFrame,
        num_partitions: int,
        shuffle: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame in at most so many tasks."""
        return frame.coalesce(num_partitions, shuffle, transformation_ctx, info, stageThreshold, totalThreshold)


class ErrorsAsDynamicFrame(GlueTransform):
    """Look at records that could not go on."""

    def __call__(
        self,
        frame: DynamicFrame,
    ) -> DynamicFrame:
        """Return the errors, one struct each."""
        return frame.errorsAsDynamicFrame()


class Filter(GlueTransform):
    """Keep the records a function accepts."""

    def __call__(
        self,
        frame: DynamicFrame,
        f: Callable[[Any], Any],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame with the accepted records."""
        return frame.filter(f, transformation_ctx, info, stageThreshold, totalThreshold)


class Join(GlueTransform):
    """Join two frames where keys are equal."""

    def __call__(
        self,
        frame1: DynamicFrame,
        frame2: DynamicFrame,
        keys1: str | Sequence[str],
        keys2: str | Sequence[str],
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the joined frame."""
        return frame1.join(keys1, keys2, frame2, transformation_ctx)


class Map(GlueTransform):
    """Replace each record by what a function returns."""

    def __call__(
        self,
        frame: DynamicFrame,
        f: Callable[[Any], Any],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame of the function's results."""
        return frame.map(f, preservesPartitioning, transformation_ctx, info, stageThreshold, totalThreshold)


class Repartition(GlueTransform):
    """Spread records over tasks."""

    def __call__(
        self,
        frame: DynamicFrame,
        num_partitions: int,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame in so many tasks."""
        return frame.repartition(num_partitions, transformation_ctx, info, stageThreshold, totalThreshold)


class Spigot(GlueTransform):
    """Write a sample of the records on the way."""

    def __call__(
        self,
        frame: DynamicFrame,
        path: str,
        options: Mapping[str, Any],
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return the frame as it is."""
        return frame.spigot(path, options, transformation_ctx)


class SplitRows(GlueTransform):
    """Split records over two frames by comparisons."""

    def __call__(
        self,
        frame: DynamicFrame,
        comparison_dict: Mapping[str, Mapping[str, Any]],
        name1: str = "frame1",
        name2: str = "frame2",
        transformation_ctx: str = "",
        info: str | None = None,
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return a frame of the records that fulfil all comparisons and one of the others."""
        return frame.split_rows(
            comparison_dict, name1, name2, transformation_ctx, info or "", stageThreshold, totalThreshold
        )


class Union(GlueTransform):
    """Put the records of two frames together."""

    def __call__(
        self,
        frame1: DynamicFrame,
        frame2: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return a frame of all records."""
        return frame1.union(frame2, transformation_ctx, info, stageThreshold, totalThreshold)
