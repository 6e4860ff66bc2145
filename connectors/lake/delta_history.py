"""The marks of our commits in the history of a Delta table. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gluepot.connectors.lake.commits import Earlier, LakeCommit

METADATA = "userMetadata"
_APP_ID, _VERSION = "txnAppId", "txnVersion"


@dataclass(frozen=True, slots=True)
class Version:
    """A version in the table's history.

    Args:
        number: its number.
        at: when it was committed.
        commit: its marks; None if it is not ours.
        restored_version: the version to which it has restored the table, if it names one.
        restored_at: the time to which it has restored the table, if it names one.
    """

    number: int
    at: datetime
    commit: LakeCommit | None = None
    restored_version: int | None = None
    restored_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """One of our commits.

    Args:
        earlier: the commit.
        is_undone: whether somebody has restored the table to a version before it.
    """

    earlier: Earlier
    is_undone: bool


def marks(commit: LakeCommit) -> dict[str, str]:
    """Return the options of a write that mark its version with its batch."""
    return {
        _APP_ID: writer(commit),
        _VERSION: str(commit.key.batch_id),
        METADATA: json.dumps(commit.properties, sort_keys=True),
    }


def writer(commit: LakeCommit) -> str:
    """Return the application id under which Delta numbers commits: one for each write of a query."""
    return f"gluepot/{commit.key.query_id}/{commit.key.ctx}"


def commit_of(metadata: str | None) -> LakeCommit | None:
    """Read the marks of a commit in the history; return None if the commit is not ours."""
    try:
        properties = json.loads(metadata or "")
    except ValueError:
        return None
    return LakeCommit.of(properties) if isinstance(properties, dict) else None


def past(history: Iterable[Version]) -> Sequence[Past]:
    """Return our commits, newest first.

    Args:
        history: the versions, newest first; those that are neither ours nor have restored the table may be missing.
    """
    found = []
    last: int | None = None
    until: datetime | None = None
    for version in history:
        is_undone = (last is not None and version.number > last) or (until is not None and version.at > until)
        if version.commit is not None:
            found.append(Past(Earlier(version.commit, version.number), is_undone))
        if is_undone:
            continue
        if version.restored_version is not None:
            last = version.restored_version if last is None else min(last, version.restored_version)
        if version.restored_at is not None:
            until = version.restored_at if until is None else min(until, version.restored_at)
    return found
