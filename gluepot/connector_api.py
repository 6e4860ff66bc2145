"""For packages that add a connection type.

A package names its connector in an entry point, whose name is the connection type:

[project.entry-points."gluepot.connectors"]
dial = "dial_connector:CONNECTOR"

CONNECTOR = Connector(
    Access.RECORDS, Access.RECORDS, batch_source="dial_connector:read", record_sink="dial_connector:sink"
)

From then on scripts read and write `connection_type="dial"`, `gluepot check` accepts it, and messages list it.
"""

from gluepot.connectors.contracts import BatchRead, BatchSource, InputSplit, RecordSink
from gluepot.connectors.registry import Access, Connector
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.frames.chunk import Chunk, ErrorRecord

__all__ = [
    "Access",
    "BatchRead",
    "BatchSource",
    "Chunk",
    "Connector",
    "ErrorRecord",
    "InputSplit",
    "Outgoing",
    "RecordShape",
    "RecordSink",
]
