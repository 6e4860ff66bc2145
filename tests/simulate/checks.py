"""What a table holds, read from its bytes at one instant; shares no code with the product."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow.parquet as pq

_COMMIT = re.compile(r"_gluepot/commits/(?:[0-9a-f]{32}/[0-9]+/)?([0-9a-f]{32})\.([0-9]+)\.json")
_COMPACTION = re.compile(r"_gluepot/compactions/([0-9]+)\.json")

Files = Mapping[str, bytes]


@dataclass(slots=True)
class View:
    """What readers of a table see.

    Args:
        ids: how often each record is there.
        rejected: how often each rejected record is there, by partition and offset.
        named: all files that count.
        faults: what contradicts itself.
    """

    ids: Counter[int] = field(default_factory=Counter)
    rejected: Counter[tuple[int, int]] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


class Reader:
    """Reads tables; remembers what it has decoded, because files never change."""

    def __init__(self) -> None:
        self._ids: dict[bytes, list[int]] = {}
        self._rejected: dict[bytes, list[tuple[int, int]]] = {}
        self._plain: dict[bytes, Any] = {}
        self._sums: dict[bytes, int] = {}
        self._commits: dict[str, tuple[str, int] | None] = {}

    def by_manifests(self, files: Files) -> View:
        """Read what the newest manifests and the compactions name."""
        view = View()
        newest: dict[str, tuple[int, bytes]] = {}
        replaced: set[str] = set()
        entries: list[tuple[str, Mapping[str, Any]]] = []
        for path, data in files.items():
            if not path.startswith("_gluepot/co"):
                continue
            if (found := self._commit_of(path)) is not None:
                write, generation = found
                if generation > newest.get(write, (0, b""))[0]:
                    newest[write] = generation, data
            elif _COMPACTION.fullmatch(path):
                record = self._json(data)
                replaced.update(record["replaced"])
                entries += [("compaction", one) for one in record["files"]]
        for _, data in newest.values():
            record = self._json(data)
            key = record["key"]
            entries += [
                (f"batch {key['batch_id']} of {key['query_id'][:8]}, {key['ctx']}", one) for one in record["files"]
            ]
        for whose, entry in entries:
            if entry["path"] not in replaced:
                self._add(view, files, whose, entry)
        return view

    def _add(self, view: View, files: Files, whose: str, entry: Mapping[str, Any]) -> None:
        path = entry["path"]
        view.named.add(path)
        data = files.get(path)
        if data is None:
            view.faults.append(f"{path} of {whose} is named by a manifest and is not there")
            return
        if len(data) != entry["size_bytes"] or self._crc32(data) != entry["crc32"]:
            view.faults.append(f"{path} of {whose} has other bytes than its manifest says")
            return
        if entry["rejects"]:
            view.rejected.update(self._rejects_of(data))
        else:
            view.ids.update(self._ids_of(data))

    def by_folder(self, files: Files) -> Counter[int]:
        """Read what a reader finds that lists the folder and opens all data files."""
        found: Counter[int] = Counter()
        for path, data in files.items():
            if path.endswith(".parquet") and not path.startswith("_"):
                found.update(self._ids_of(data))
        return found

    def _commit_of(self, path: str) -> tuple[str, int] | None:
        """Return the write and the generation of a manifest; None for another file."""
        if path not in self._commits:
            found = _COMMIT.fullmatch(path)
            self._commits[path] = None if found is None else (found[1], int(found[2]))
        return self._commits[path]

    def _crc32(self, data: bytes) -> int:
        if data not in self._sums:
            self._sums[data] = zlib.crc32(data)
        return self._sums[data]

    def _json(self, data: bytes) -> Any:
        if data not in self._plain:
            self._plain[data] = json.loads(data)
        return self._plain[data]

    def _ids_of(self, data: bytes) -> list[int]:
        if data not in self._ids:
            file = pq.ParquetFile(io.BytesIO(data))
            found = file.read(["id"], use_threads=False) if "id" in file.schema_arrow.names else None
            self._ids[data] = [] if found is None else found.column("id").to_pylist()
        return self._ids[data]

    def _rejects_of(self, data: bytes) -> list[tuple[int, int]]:
        if data not in self._rejected:
            table = pq.read_table(io.BytesIO(data), use_threads=False)
            pairs = zip(table.column("shard").to_pylist(), table.column("position").to_pylist(), strict=True)
            self._rejected[data] = [(int(shard), int(position)) for shard, position in pairs]
        return self._rejected[data]


def leftovers(files: Files, named: Iterable[str]) -> list[str]:
    """Return the files that are neither data of the table nor its records."""
    kept = {*named, "_gluepot/write-check"}  # an empty file, of a driver that died in its first write to a table
    own = ("_gluepot/commits/", "_gluepot/compactions/", "_gluepot/rollups/")
    return sorted(path for path in files if path not in kept and not (path.startswith(own) and "/intents/" not in path))
