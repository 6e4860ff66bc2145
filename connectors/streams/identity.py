"""Checks that a stream was not deleted and created again between planning a batch and reading it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gluepot.connectors.contracts import StreamSource
from gluepot.connectors.values import SourceRange


@runtime_checkable
class IdentifiedSource(Protocol):
    """A stream source whose streams can be replaced by others of the same name. The worker calls its methods."""

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """Return the ranges to read: all, or, if the user accepts losses, those whose stream still exists."""

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """Make sure, after ranges have been read, that their streams are still those of the time of planning.

        Ids of streams never come back. So a stream that has its planned id now has had it all the time, and every
        record that was read came from it.

        Raises:
            DataLoss: a stream was deleted or replaced.
            TransientError: a stream was deleted or replaced and the user accepts losses, so that the next try leaves it
                out; or the service did not answer.
        """


def remaining(source: StreamSource, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
    """Return which ranges a task reads; see `IdentifiedSource.remaining`."""
    return source.remaining(load) if isinstance(source, IdentifiedSource) else load


def confirm(source: StreamSource, load: Sequence[SourceRange]) -> None:
    """Check the streams of ranges that a task has read; see `IdentifiedSource.confirm`."""
    if isinstance(source, IdentifiedSource):
        source.confirm(load)
