"""`awsglue.transforms`, as job scripts import it: every name is there, those without an implementation say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.unsupported import TRANSFORMS, NotSupportedHere


class GlueTransform:
    """Base of all transforms: `X.apply(...)` is `X()(...)`."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Apply the transform."""
        return cls()(*args, **kwargs)

    @classmethod
    def name(cls) -> str:
        """Return the transform's name."""
        return cls.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotSupportedHere(f"awsglue.transforms.{self.name()}")


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


globals().update({name: type(name, (GlueTransform,), {"__doc__": "Not supported yet."}) for name in TRANSFORMS})

__all__ = ["ApplyMapping", "DropFields", "Filter", "Map", "RenameField", "SelectFields", *TRANSFORMS]  # noqa: PLE0604
