"""Transforms that choose, name and convert fields (docs/glue 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from awsglue.calls import called
from awsglue.collection import DynamicFrameCollection
from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms.transform import GlueTransform


class ApplyMapping(GlueTransform):
    """Choose, rename, move and cast fields."""

    def __call__(
        self,
        frame: DynamicFrame,
        mappings: Sequence[tuple[str, ...]],
        case_sensitive: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame with the mapped fields."""
        return frame.apply_mapping(mappings, case_sensitive, transformation_ctx, info, stageThreshold, totalThreshold)


class DropFields(GlueTransform):
    """Remove fields."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame without the fields."""
        return frame.drop_fields(paths, transformation_ctx, info, stageThreshold, totalThreshold)


class DropNullFields(GlueTransform):
    """Remove fields that have no value in any record."""

    def __call__(
        self,
        frame: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame without fields whose type is null."""
        return frame.drop_null_fields(called(transformation_ctx, info, stageThreshold, totalThreshold))


class RenameField(GlueTransform):
    """Rename a field."""

    def __call__(
        self,
        frame: DynamicFrame,
        old_name: str,
        new_name: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame with the field renamed."""
        return frame.rename_field(old_name, new_name, transformation_ctx, info, stageThreshold, totalThreshold)


class ResolveChoice(GlueTransform):
    """Make one type, or one column per type, of fields that have several."""

    def __call__(
        self,
        frame: DynamicFrame,
        specs: Sequence[tuple[str, str]] | None = None,
        choice: str = "",
        database: str | None = None,
        table_name: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        catalog_id: str | None = None,
    ) -> DynamicFrame:
        """Return the frame with the choices resolved."""
        return frame.resolveChoice(
            specs, choice, database, table_name, transformation_ctx, info, stageThreshold, totalThreshold, catalog_id
        )


class SelectFields(GlueTransform):
    """Keep fields."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame with these fields only."""
        return frame.select_fields(paths, transformation_ctx, info, stageThreshold, totalThreshold)


class SplitFields(GlueTransform):
    """Split fields over two frames."""

    def __call__(
        self,
        frame: DynamicFrame,
        paths: Sequence[str],
        name1: str | None = None,
        name2: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return a frame of these fields and a frame of the others."""
        return frame.split_fields(
            paths,
            name1 or f"{frame.name}1",
            name2 or f"{frame.name}2",
            transformation_ctx,
            info,
            stageThreshold,
            totalThreshold,
        )


class Unbox(GlueTransform):
    """Replace text in a field by the document it stands for."""

    def __call__(
        self,
        frame: DynamicFrame,
        path: str,
        format: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        **options: Any,
    ) -> DynamicFrame:
        """Return the frame with the field unboxed."""
        return frame.unbox(path, format, transformation_ctx, info, stageThreshold, totalThreshold, **options)


class UnnestFrame(GlueTransform):
    """Make the fields of structs fields of the record."""

    def __call__(
        self,
        frame: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the flat frame."""
        return frame.unnest(transformation_ctx, info, stageThreshold, totalThreshold)
