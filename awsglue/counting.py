"""Names what a script reads, so that its records are counted."""

from __future__ import annotations

from dataclasses import replace

from gluepot.bookmarks import jobrun
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.engine.pipeline import PackedInput, Pipeline, RangeInput, SplitInput
from gluepot.engine.readings import READINGS
from gluepot.streaming.micro_batch.context import current_batch
from gluepot.streaming.query import session


def counted(pipeline: Pipeline, label: str) -> Pipeline:
    """Return the pipeline of a read whose records count in the account of the batch or run.

    Args:
        pipeline: of the read.
        label: what the user knows the source by.
    """
    if isinstance(pipeline.input, PackedInput):
        return pipeline
    batch = current_batch()
    scope = jobrun.scope() if batch is None else batch.writer.scope
    given = pipeline.input
    # The options of a stream may say what happens to its records.
    on_malformed = given.on_malformed if isinstance(given, RangeInput) else session.current().on_malformed
    name = READINGS.named(scope, label)
    if isinstance(given, SplitInput):
        if given.bookmark:
            READINGS.has_bookmark(name, given.bookmark)
        if isinstance(given.source, FilesSource) and any(split.size_bytes for split in given.splits):
            READINGS.found_by(name, given.source.finds_records_by)
    return replace(pipeline, input=replace(given, name=name, on_malformed=on_malformed))
