"""`awsglueml.transforms`, as job scripts import it."""

from __future__ import annotations

from typing import Any

from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms import GlueTransform
from awsglue.unsupported import NotSupportedHere
from awsglueml.entity_detector import EntityDetector

__all__ = ["EntityDetector", "FillMissingValues", "FindIncrementalMatches", "FindMatches"]


class _Learned(GlueTransform):
    """A transform around AWS's own model, which runs only at AWS."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise the error that the transform is not supported.

        Raises:
            NotSupported: always.
        """
        raise NotSupportedHere(f"awsglueml.transforms.{self.name()}", self.instead)

    instead = ""


class FillMissingValues(GlueTransform):
    """Guess missing values of a column from the other columns."""

    def __call__(
        self,
        frame: DynamicFrame,
        missing_values_column: str,
        output_column: str = "",
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the frame with one more column, `<column>_filled` unless it is named: see `awsglueml.filling`."""
        from awsglueml.filling import filled  # noqa: PLC0415  Spark's machine learning takes a second to import

        rows = frame.toDF()
        if not rows.columns:
            return frame
        output = output_column or f"{missing_values_column}_filled"
        guessed = filled(rows, missing_values_column, output)
        return DynamicFrame.fromDF(guessed, frame.glue_ctx, transformation_ctx or frame.name)


class FindMatches(_Learned):
    """Find records that mean the same."""

    instead = "Compare the columns that tell records apart with a join."


class FindIncrementalMatches(FindMatches):
    """Find new records that mean the same as known ones."""
