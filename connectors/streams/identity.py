"""Whether a stream is still the one that a batch was planned from: it may be deleted and created again in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gluepot.connectors.ports import SourceRange, StreamSource


@runtime_checkable
class IdentifiedSource(Protocol):
    """A stream source whose streams can be replaced by others of the same name. The worker calls its methods."""

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """Return the ranges to read: all of them, or those whose stream is still there if the user accepts losses."""

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """Make sure, once ranges have been read, that their streams still are those that the batch was planned from.

        Ids of streams never come back. So a stream that has its planned id now has had it all the time, and every
        record that was read came from it.

        Raises:
            DataLoss: a stream was deleted, or is another one.
            TransientError: the same, if the user accepts losses: the next try leaves the stream out. Or the service
                did not answer.
        """


def remaining(source: StreamSource, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
    """Return which ranges a task reads; see `IdentifiedSource.remaining`."""
    return source.remaining(load) if isinstance(source, IdentifiedSource) else load


def confirm(source: StreamSource, load: Sequence[SourceRange]) -> None:
    """Check the streams of ranges that a task has read; see `IdentifiedSource.confirm`."""
    if isinstance(source, IdentifiedSource):
        source.confirm(load)
