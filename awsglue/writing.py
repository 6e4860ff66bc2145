"""Chooses the writer for the calls of a script."""

from __future__ import annotations

from gluepot.bookmarks.run_writer import WRITERS
from gluepot.connectors.streams.rejects import RejectsOfFrame
from gluepot.engine.writer import TableWriter
from gluepot.streaming.micro_batch.context import current_batch


def current_writer() -> TableWriter:
    """Return the writer of the micro-batch that this thread works for or, outside of streams, the writer of the run.

    Raises:
        PermanentError: the batch that started this thread is over.
    """
    batch = current_batch()
    return WRITERS.current() if batch is None else batch.writer


def rejects_of_frame() -> RejectsOfFrame:
    """Return where the rejected records of a frame go that is about to become rows.

    Raises:
        PermanentError: as `current_writer`.
    """
    return current_writer().rejects.of_frame()
