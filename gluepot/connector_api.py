"""For packages that add a connection type.

A package names its connector in an entry point, whose name is the connection type:

[project.entry-points."gluepot.connectors"]
dial = "dial_connector:CONNECTOR"

CONNECTOR = Connector(
    Access.RECORDS, Access.RECORDS, batch_source="dial_connector:read", record_sink="dial_connector:sink"
)

A store that keeps each row under an id is written with `Access.DOCUMENTS` and a `document_store`.

From then on scripts read and write `connection_type="dial"`, `gluepot check` accepts it, and messages list it.

A stream needs a `stream_source`, which makes a `StreamSource`, and `positions`, the place of a subclass of
`StreamPositions` whose `SOURCE` is the connection type.
"""

from gluepot.connectors.contracts import (
    AheadReader,
    BatchRead,
    BatchSource,
    DocumentStore,
    GroupPositions,
    InputSplit,
    Planner,
    RecordSink,
    StreamAdmin,
    StreamIdentity,
    StreamReading,
    StreamSource,
    TaskReader,
    ThrottledReads,
)
from gluepot.connectors.options import Declare, PayloadSettings
from gluepot.connectors.positions import PositionsCodec, Span, StreamPositions
from gluepot.connectors.registry import Access, Connector
from gluepot.connectors.streams.shape import payload_field
from gluepot.connectors.streams.start import of_stream, read_start
from gluepot.connectors.values import (
    Document,
    OriginalRecord,
    Outgoing,
    RawBatch,
    RecordShape,
    Refusal,
    SourceRange,
    StreamShape,
)
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset
from gluepot.frames.chunk import Chunk, ErrorRecord

__all__ = [
    "Access",
    "AheadReader",
    "BatchRead",
    "BatchSource",
    "Checkpoint",
    "Chunk",
    "Clock",
    "Connector",
    "Dataset",
    "Declare",
    "Document",
    "DocumentStore",
    "ErrorRecord",
    "GroupPositions",
    "InputSplit",
    "OriginalRecord",
    "Outgoing",
    "PayloadSettings",
    "Planner",
    "PositionsCodec",
    "RawBatch",
    "RecordShape",
    "RecordSink",
    "Refusal",
    "SourceRange",
    "Span",
    "StreamAdmin",
    "StreamIdentity",
    "StreamPositions",
    "StreamReading",
    "StreamShape",
    "StreamSource",
    "TaskReader",
    "ThrottledReads",
    "of_stream",
    "payload_field",
    "read_start",
]
