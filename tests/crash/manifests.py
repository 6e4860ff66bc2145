"""Reading a table's manifests as any program may: JSON files, the newest generation of each write counts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.crash.lanes import Folder

COMMITS = "_gluepot/commits"


@dataclass(frozen=True)
class Manifest:
    """One manifest.

    Args:
        name: file name without `.json`: the write, a dot, the generation.
        content: the JSON object.
    """

    name: str
    content: dict[str, Any]

    @property
    def write(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def generation(self) -> int:
        return int(self.name.rpartition(".")[2])

    @property
    def batch_id(self) -> int:
        return int(self.content["key"]["batch_id"])

    @cached_property
    def data(self) -> dict[str, int]:
        """Rows by data file."""
        return {one["path"]: one["rows"] for one in self.content["files"] if not one["rejects"]}

    @cached_property
    def rejects(self) -> dict[str, int]:
        return {one["path"]: one["rows"] for one in self.content["files"] if one["rejects"]}

    def missing(self) -> int:
        """Records of the write's source ranges that are in none of its files; 0 where it does not know its ranges."""
        return max(0, self.records() - sum(self.data.values()) - sum(self.rejects.values()))

    def records(self) -> int:
        """Records of the write's source ranges; 0 where it does not know its ranges."""
        return sum(_records(one) for one in self.content["ranges"])


def _records(span: dict[str, Any]) -> int:
    """How many records a source range holds; offsets are numbered one by one, of Kinesis the count stands beside."""
    if span["source"] == "kafka":
        return span["end"] - span["start"]
    counted = re.search(r"records=(\d+)", span.get("proof", ""))
    return int(counted[1]) if counted else 0


def names(table: Folder) -> set[str]:
    """The manifests there are, by their paths below the folder of all manifests."""
    found = (key.removeprefix(f"{COMMITS}/") for key in table.keys(COMMITS))
    return {name.removesuffix(".json") for name in found if name.endswith(".json") and "/." not in f"/{name}"}


def read(table: Folder, name: str) -> Manifest:
    return Manifest(name, json.loads(table.fetch(f"{COMMITS}/{name}.json").read_bytes()))


def live(table: Folder) -> list[Manifest]:
    """Those that count now."""
    return [read(table, name) for name in newest(names(table))]


def early_children(table: Folder, parents: Mapping[str, Sequence[str]]) -> list[str]:
    """The shards of which a record was written before all of a shard they were made of were."""
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for manifest in live(table):
        for shard in {span["shard"] for span in manifest.content["ranges"] if _records(span)}:
            begun[shard] = min(manifest.batch_id, begun.get(shard, manifest.batch_id))
            ended[shard] = max(manifest.batch_id, ended.get(shard, manifest.batch_id))
    return [
        f"batch {begun[child]} holds records of {child}, which was made of {parent}, of which batch {ended[parent]} does"
        for child, made_of in parents.items()
        for parent in made_of
        if child in begun and parent in ended and begun[child] <= ended[parent]
    ]


def newest(names: Iterable[str]) -> set[str]:
    """Of each write the name with the highest generation."""
    highest: dict[str, int] = {}
    for name in names:
        write, _, generation = name.rpartition(".")
        highest[write] = max(int(generation), highest.get(write, 0))
    return {f"{write}.{generation}" for write, generation in highest.items()}
