"""Error records as records (docs/glue 6.5)."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from gluepot.frames.chunk import CallSite, Chunk, ErrorRecord

_ERROR = pa.struct(
    [
        pa.field("callsite", pa.struct([pa.field("site", pa.string()), pa.field("info", pa.string())])),
        pa.field("msg", pa.string()),
        pa.field("stackTrace", pa.string()),
        pa.field("input", pa.string()),
        pa.field("bytesread", pa.string()),
        pa.field("source", pa.string()),
        pa.field("dynamicRecord", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class ErrorRows:
    """Puts the errors in place of the rows, one struct `error` each.

    `input` is the raw text of a record that could not be read, `dynamicRecord` the JSON of one that a transform
    refused, `source` topic, partition or file, `bytesread` the position there.
    """

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the errors as rows; no errors are left."""
        rows = pa.array([_row(error) for error in chunk.errors], _ERROR)
        return Chunk(pa.RecordBatch.from_arrays([rows], ["error"]), misfits=chunk.misfits)


def _row(error: ErrorRecord) -> dict[str, object]:
    text = None if error.raw is None else error.raw.decode("utf-8", "replace")
    callsite = error.callsite or CallSite()
    return {
        "callsite": {"site": callsite.site, "info": callsite.info},
        "msg": error.message,
        "stackTrace": error.stack_trace,
        "input": text if error.callsite is None else None,
        "bytesread": error.at.position,
        "source": "-".join(part for part in (error.at.stream, error.at.shard) if part) or None,
        "dynamicRecord": None if error.callsite is None else text,
    }
