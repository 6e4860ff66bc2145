"""Tells by its name what each file of a checkpoint folder is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gluepot.streaming.checkpoints import lease

METADATA = "metadata"
OURS = "gluepot"

Kind = Literal["metadata", "offsets", "commits", "sources", "state", "checksum", "temporary", "ours", "unknown"]

MEANING: dict[Kind, str] = {
    "metadata": "Spark's id of the query",
    "offsets": "what a batch reads, written before it runs",
    "commits": "that a batch is done",
    "sources": "notes of a source that is not ours",
    "state": "state of aggregations and joins",
    "checksum": "Hadoop's checksum of the file beside it",
    "temporary": "left by a writer that died, or in use by one that lives",
    "ours": "Gluepot's own",
    "unknown": "not Spark's and not Gluepot's",
}

# Spark's CheckpointFileManager writes `.<name>.<uuid>.tmp` and renames it, together with Hadoop's checksum file.
_TEMPORARY = re.compile(r"\..+\.tmp(\.crc)?")


@dataclass(frozen=True, slots=True)
class FileName:
    """The key of a file and what it says about the file.

    Args:
        key: the key relative to the checkpoint.
        kind: what the file is for.
        batch_id: the batch of an entry of the offset or commit log; None for other files.
    """

    key: str
    kind: Kind
    batch_id: int | None = None


def file_name(key: str) -> FileName:
    """Tell what a file is for."""
    folder, _, name = key.rpartition("/")
    top = key.split("/", 1)[0]
    if _TEMPORARY.fullmatch(name):
        return FileName(key, "temporary")
    if name.startswith(".") and name.endswith(".crc"):
        return FileName(key, "checksum")
    if key == METADATA:
        return FileName(key, "metadata")
    if folder in {"offsets", "commits"} and name.isdecimal() and str(int(name)) == name:
        return FileName(key, "offsets" if folder == "offsets" else "commits", int(name))
    match top:
        case "sources" | "state" if folder:
            return FileName(key, "sources" if top == "sources" else "state")
        case "gluepot" if folder:
            return FileName(key, "ours")
    return FileName(key, "unknown")


def checksum_of(key: str) -> str:
    """Return the key of the checksum file that Hadoop keeps beside a file on a local disk."""
    folder, slash, name = key.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


def lease_number(key: str) -> int | None:
    """Return the number of the owner if the key is that of an owner's lease file; None for other files."""
    number = key.removeprefix(f"{lease.FOLDER}/").removesuffix(".json")
    return int(number) if number.isdecimal() and key == f"{lease.FOLDER}/{number}.json" else None
