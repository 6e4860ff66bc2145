"""A collection of frames by name (docs/glue 6.8)."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

from awsglue.lazy_frame import LazyFrame

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


class DynamicFrameCollection:
    """Frames by name, in order.

    Args:
        dynamic_frames: frames by name, or a list of frames, which are called by their own names.
        glue_ctx: the context.
    """

    def __init__(
        self, dynamic_frames: Mapping[str, DynamicFrame] | Sequence[DynamicFrame], glue_ctx: GlueContext
    ) -> None:
        named = dynamic_frames if isinstance(dynamic_frames, Mapping) else {one.name: one for one in dynamic_frames}
        self._frames = dict(named)
        self.glue_ctx = glue_ctx

    def __getitem__(self, key: str) -> DynamicFrame:
        return self._frames[key]

    def __len__(self) -> int:
        return len(self._frames)

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._frames.keys()

    def values(self) -> ValuesView[DynamicFrame]:
        """Return the frames."""
        return self._frames.values()

    def items(self) -> ItemsView[str, DynamicFrame]:
        """Return names with frames."""
        return self._frames.items()

    def select(self, key: str, transformation_ctx: str = "") -> DynamicFrame:
        """Return the frame of a name; an empty one without fields if there is none."""
        if key in self._frames:
            return self._frames[key]
        return self.glue_ctx.empty_frame(key)

    def map(self, callable: Callable[..., Any], transformation_ctx: str = "") -> DynamicFrameCollection:
        """Return the collection of the results of `callable(frame, ctx)` for each frame.

        Raises:
            TypeError: a result is not a DynamicFrame.
        """
        mapped = {}
        for key, frame in self._frames.items():
            result = callable(frame, _ctx(transformation_ctx, key))
            if not _is_frame(result):
                raise TypeError(f"the function made a {type(result).__name__} of '{key}'; return a DynamicFrame.")
            mapped[key] = result
        return DynamicFrameCollection(mapped, self.glue_ctx)

    def flatmap(self, f: Callable[..., Any], transformation_ctx: str = "") -> DynamicFrameCollection:
        """Return the collection of the results of `f(frame, ctx)` for each frame, where a result may be a collection.

        A frame from a resulting collection gets both names, joined by an underscore.

        Raises:
            TypeError: a result is neither a DynamicFrame nor a collection.
        """
        flat: dict[str, DynamicFrame] = {}
        for key, frame in self._frames.items():
            result = f(frame, _ctx(transformation_ctx, key))
            if isinstance(result, DynamicFrameCollection):
                flat |= {f"{key}_{inner}": one for inner, one in result.items()}
            elif _is_frame(result):
                flat[key] = result
            else:
                raise TypeError(
                    f"the function made a {type(result).__name__} of '{key}'; return a DynamicFrame or a collection."
                )
        return DynamicFrameCollection(flat, self.glue_ctx)


def _ctx(transformation_ctx: str, key: str) -> str:
    return f"{transformation_ctx}_{key}" if transformation_ctx else ""


def _is_frame(result: object) -> bool:
    return isinstance(result, LazyFrame)
