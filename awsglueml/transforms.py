"""`awsglueml.transforms`, as job scripts import it."""

from __future__ import annotations

from typing import Any

from awsglue.transforms import GlueTransform
from awsglue.unsupported import NotSupportedHere

__all__ = ["FillMissingValues", "FindIncrementalMatches", "FindMatches"]


class _Learned(GlueTransform):
    """A transform around a model of AWS's own, which nobody else can run."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Say that it is not there.

        Raises:
            NotSupported: always.
        """
        raise NotSupportedHere(f"awsglueml.transforms.{self.name()}", self.instead)

    instead = ""


class FillMissingValues(_Learned):
    """Guess missing values of a column from the others."""

    instead = "Fill the column with toDF().fillna(...), or with what a model of yours says."


class FindMatches(_Learned):
    """Find records that mean the same."""

    instead = "Compare the columns that tell records apart with a join."


class FindIncrementalMatches(FindMatches):
    """Find new records that mean the same as known ones."""
