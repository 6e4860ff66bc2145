"""Exports a checkpoint to one file, and imports it again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from gluepot.connectors.streams.start import START_FILE
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.contents import QueryId
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.names import METADATA, file_name
from gluepot.streaming.checkpoints.snapshot import Snapshot

_VERSION = 1


def exported(snapshot: Snapshot) -> dict[str, Any]:
    """Return what a query needs to continue elsewhere: its id, two newest entries, newest commit, and start file.

    Raises:
        CheckpointError: a file is damaged.
        ConfigError: the query has state, or notes of a foreign source, which are no part of an export.
    """
    for finding in diagnose(snapshot):
        if finding.blocks:
            raise CheckpointError(finding.sentence(snapshot.location))
    if large := next((one.key for one in snapshot.names if one.kind in {"state", "sources"}), None):
        raise ConfigError(f"{snapshot.location}/{large} is not part of an export; copy the whole folder instead.")
    query = snapshot.query_id()
    if not isinstance(query, QueryId):
        raise ConfigError(f"There is no checkpoint in {snapshot.location}; nothing to export.")
    wanted = [METADATA, *(f"offsets/{n}" for n in snapshot.batches("offsets")[-2:])]
    wanted += [f"commits/{n}" for n in snapshot.batches("commits")[-1:]]
    wanted += [START_FILE] if START_FILE in snapshot.contents else []
    files = {key: snapshot.contents[key].decode() for key in wanted}
    return {"gluepot_checkpoint": _VERSION, "query_id": query.text, "files": files, "check": _check(files)}


def files_of(text: bytes, name: str) -> dict[str, bytes]:
    """Read an export; return its files in writing order: the last is `metadata`, without which no query starts.

    Raises:
        CheckpointError: the text is not an export, or was changed.
    """
    try:
        plain = json.loads(text)
        version, files, check = plain["gluepot_checkpoint"], plain["files"], plain["check"]
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{name} is not an export of a checkpoint; make one with `gluepot checkpoint export`."
        ) from error
    if version != _VERSION:
        raise CheckpointError(f"{name} is an export of version {version}, this Gluepot knows {_VERSION}.")
    if check != _check(files):
        raise CheckpointError(f"{name} was changed since it was exported; export the checkpoint again.")
    return {key: files[key].encode() for key in sorted(files, key=lambda key: key == METADATA)}


def write_into(storage: Storage, files: Mapping[str, bytes]) -> None:
    """Write an export's files into an empty location.

    Raises:
        ConfigError: the location is not empty.
        CheckpointError: the files do not make a sound checkpoint.
    """
    if there := [key for key in storage.list("") if file_name(key).kind != "ours" or key == START_FILE]:
        raise ConfigError(f"{storage.url} is not empty, it holds {there[0]}; import into an empty location.")
    made = Snapshot(storage.url, tuple(map(file_name, files)), files)
    for finding in diagnose(made):
        if finding.blocks:
            raise CheckpointError(finding.sentence(storage.url))
    for key, data in files.items():
        storage.put(key, data)


def _check(files: Mapping[str, str]) -> str:
    return f"{zlib.crc32(json.dumps(files, sort_keys=True).encode()):08x}"
