"""Connection types of a package of its own.

`dial`: numbers come out of a dial, and rows go into a file, line by line. `tail`: a stream, see `tail.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from gluepot.connector_api import Access, BatchRead, Chunk, Connector, Outgoing, RecordShape
from gluepot.errors import ConfigError


@dataclass(frozen=True)
class Turn:
    first: int
    end: int
    size_bytes: int = 0


@dataclass(frozen=True)
class Dial:
    guarantee: str = "each number once"

    def read(self, split: Turn) -> Iterator[Chunk]:
        yield Chunk(pa.record_batch({"n": pa.array(range(split.first, split.end), pa.int64())}))


@dataclass(frozen=True)
class Lines:
    path: str
    shape: RecordShape = field(default_factory=RecordShape)
    guarantee: str = "at least once"

    def check(self) -> None:
        if not Path(self.path).parent.is_dir():
            raise ConfigError(f"path is {self.path!r}, and there is no such folder; create it, or correct the path.")

    def send(self, records: Iterator[Outgoing]) -> int:
        lines = [record.value or b"" for record in records]
        with Path(self.path).open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))
        return len(lines)


def read(options: Mapping[str, Any]) -> BatchRead:
    half, upto = int(options["upto"]) // 2, int(options["upto"])
    return BatchRead(Dial(), (Turn(0, half), Turn(half, upto)), pa.schema([("n", pa.int64())]))


def sink(options: Mapping[str, Any]) -> Lines:
    return Lines(str(options["path"]))


TAIL = Connector(Access.RECORDS, stream_source="dial_connector.tail:source", positions="dial_connector.tail:Positions")
CONNECTOR = Connector(
    Access.RECORDS, Access.RECORDS, batch_source="dial_connector:read", record_sink="dial_connector:sink"
)
