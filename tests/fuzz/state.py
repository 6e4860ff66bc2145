"""Targets that read back what Gluepot has stored, and what may have been damaged since."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from gluepot.bookmarks.cursor_input import cursor_of
from gluepot.commit import Target
from gluepot.commit.compaction import Compaction
from gluepot.commit.intent import Intent
from gluepot.commit.journal import State, Write
from gluepot.commit.record import CommitRecord
from gluepot.commit.rollup import Index, Summary
from gluepot.connectors.files.source.versions import FileVersion, read_body, state_body
from gluepot.connectors.files.source.versions import state_of as state_of_files
from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn
from gluepot.connectors.jdbc.state import JdbcState, digest_of
from gluepot.connectors.jdbc.state import state_of as state_of_table
from gluepot.connectors.kinesis.positions import Note
from gluepot.connectors.kinesis.positions import Positions as KinesisPositions
from gluepot.connectors.positions import Span, StreamPositions
from gluepot.connectors.streams.start import parse_start
from gluepot.streaming.checkpoints.contents import Damage, OffsetFile, read_commit, read_metadata, read_offsets
from tests.fuzz.rules import must, refusing, round_trip
from tests.unit.checkpoints.made import COMMIT, QUERY, hadoop_crc, offset_file, positions
from tests.unit.commit.worlds import KEY, MemoryStorage, offsets, staged

DEEP = b"[" * 3_000
DEEP_OBJECT = b'{"version":' * 1_000


def record() -> CommitRecord:
    storage = MemoryStorage()
    manifest = staged(Target(storage, storage), (offsets(0, 3, "0"), offsets(2**60, 2**60 + 2, "1")), attempt="first")
    schema = bytes(pa.schema([("id", pa.int64()), ("name", pa.string())]).serialize())
    return replace(CommitRecord.of(manifest, 1), schema=schema, columns=(schema,), rejected={"malformed_json": 2})


def manifests(data: bytes) -> None:
    round_trip(CommitRecord.from_bytes, CommitRecord.to_bytes, data)


def intents(data: bytes) -> None:
    round_trip(Intent.from_bytes, Intent.to_bytes, data)


def journals(data: bytes) -> None:
    round_trip(partial(State.from_bytes, 1), State.to_bytes, data)


def compactions(data: bytes) -> None:
    round_trip(Compaction.from_bytes, Compaction.to_bytes, data)


def rollups(data: bytes) -> None:
    round_trip(partial(Index.from_bytes, 1), Index.to_bytes, data)


def journal() -> State:
    writes = frozenset({Write("files", "s3://b/t", "sink0"), Write("postgresql", "db/t", "sink1", mode="append")})
    return State(1, 7, writes, "file:///c")


def manifest_seeds() -> list[bytes]:
    return [record().to_bytes(), CommitRecord.nothing(KEY).to_bytes(), DEEP]


def intent_seeds() -> list[bytes]:
    return [Intent.to_publish(record()).to_bytes(), b'{"key": {}, "generation": 1e999}', DEEP]


def compaction_seeds() -> list[bytes]:
    return [Compaction(3, "me", ("a.parquet",), record().files, 5).to_bytes(), DEEP, DEEP_OBJECT]


def rollup_seeds() -> list[bytes]:
    first = replace(record(), files=[replace(one, encoding={"format": "parquet"}) for one in record().files])
    summary = Summary.of([first, replace(first, key=replace(KEY, batch_id=8))])
    return [Index("query-1", 1, 2, {0: "a/b.parquet", 1000: "c"}, summary).to_bytes(), DEEP, DEEP_OBJECT]


def offset_entries(data: bytes) -> None:
    """Read an entry of the offset log; an entry of ours is also read with the checksum that it should have."""
    for text in (data, _with_right_checks(data)):
        for crc in (None, hadoop_crc(text), data[:16]):
            found = read_offsets(text, crc)
            must(isinstance(found, OffsetFile | Damage), "There is another answer.")
            if isinstance(found, OffsetFile):
                for one in found.positions:
                    refusing(one.ranges)
                    must(_same(one), "Positions are not read as they were written.")


def _with_right_checks(data: bytes) -> bytes:
    """Return an entry whose positions have right checksums, which chance would never find."""
    lines = []
    for line in data.split(b"\n"):
        try:
            plain = json.loads(line)
            positions_of = {"kafka": type(positions(1)[0]), "kinesis": KinesisPositions}[plain["source"]]
            lines.append(json.dumps({**plain, "check": _check(positions_of, plain)}).encode())
        except (ValueError, TypeError, KeyError, RecursionError):
            lines.append(line)
    return b"\n".join(lines)


def _check(kind: type[StreamPositions[Any]], plain: dict[str, Any]) -> str:
    from gluepot.connectors.positions import _checksum

    return _checksum(plain.get(kind.STREAMS), plain.get("after"))


def kinesis_positions() -> KinesisPositions:
    notes = {("s", "shardId-000000000000"): Note("", 2, 5, 7, closed=True).to_text()}
    return KinesisPositions({"s": "arn"}, {("s", "shardId-000000000000"): Span(2**130, 2**131)}, "", notes)


def offset_seeds() -> list[bytes]:
    first, second = positions(2)
    of_kinesis = offset_file(json.dumps(kinesis_positions().to_json()))
    return [
        offset_file(first),
        offset_file(second, "-"),
        offset_file('{"t":{"0":3}}'),
        of_kinesis,
        b"",
        b"v2\n{}",
        DEEP,
    ]


def checkpoint_files(data: bytes) -> None:
    for crc in (None, hadoop_crc(data), data[:16]):
        read_commit(data, crc)
        read_metadata(data, crc)


def checkpoint_seeds() -> list[bytes]:
    return [
        COMMIT,
        json.dumps({"id": QUERY}).encode(),
        b'v2\n{"nextBatchWatermarkMs":0}',
        b"v1\n" + DEEP,
        DEEP,
        b"crc\0\0\0\2\0",
    ]


def _same(one: StreamPositions[Any]) -> bool:
    """Tell whether positions are read as they were written; streams without a shard are not written."""
    again = type(one).from_json(one.to_json())
    return (again.spans, again.notes, again.after) == (one.spans, one.notes, one.after)


def start_files(data: bytes) -> None:
    for text in (data, _with_right_checks(data)):
        found = refusing(lambda text=text: parse_start(text))
        if found is not None:
            must(_same(found), "A start is not read as it was written.")


def start_seeds() -> list[bytes]:
    return [json.dumps(one.to_json()).encode() for one in (positions(1)[0], kinesis_positions())] + [DEEP]


def notes(data: bytes) -> None:
    text = data.decode(errors="replace")
    found = refusing(lambda: Note.parse(text))
    must(found is None or Note.parse(found.to_text()) == found, "A note is not read as it was written.")


def note_seeds() -> list[bytes]:
    return [Note("horizon").to_text().encode(), Note("", 2, 5, 7, closed=True).to_text().encode(), b"closed", b""]


def bookmarks(data: bytes) -> None:
    """Read a stored bookmark as each kind of source reads it."""
    body = data.decode(errors="surrogateescape")
    found = refusing(lambda: read_body(body))
    if found is not None:
        files, started_us, source = found
        must(read_body(state_body(files, started_us, source))[1:] == (started_us, source), "A bookmark changed.")
    state = refusing(lambda: state_of_files([body, body]))
    if state is not None:
        for folder in list(state.folders)[:3]:
            refusing(lambda folder=folder: state.identities(folder))
    table = refusing(lambda: state_of_table([body]))
    if table is not None:
        must(state_of_table([table.to_body()]) == table, "A bookmark of a table changed.")
    refusing(lambda: cursor_of([body]))


def bookmark_seeds() -> list[bytes]:
    files = [FileVersion("s3://b/t", "s3://b/t/d=1", "a.json", 5, 6, "e"), FileVersion("/x", "/x", "b", 0, 1)]
    key = Key((KeyColumn("id", "bigint", Family.NUMBER), KeyColumn("at", "date", Family.DATE)))
    table = JdbcState("public.t", key, ("5", "2024-01-01"), None, Counter({digest_of(("5", "x")): 2}), 3, {"url": "u"})
    cursor = '{"kind": "cursor", "version": 1, "cursor": {"a": [1]}}'
    return [
        state_body(files, 7, {"paths": ["s3://b/t"]}).encode(),
        table.to_body().encode(),
        cursor.encode(),
        b"5",
        DEEP,
    ]
