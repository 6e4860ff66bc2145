"""Reads messages about objects in S3, and says which folders of a target they name (docs/glue 11.6). Pure.

A message is an event notification of S3, the same in the envelope of SNS, or an event of EventBridge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from gluepot.connectors.files.source.hive import is_hidden
from gluepot.core.storage import S3Root, parse_url
from gluepot.crawl.listing import is_below_hidden, lake_of
from gluepot.crawl.settings import Target

_REMOVED = {"ObjectCreated": False, "ObjectRemoved": True, "LifecycleExpiration": True}
"""Whether an object is gone, by the first part of an event's name. Other events change no file."""

_REMOVED_IN_DETAIL = {"Object Created": False, "Object Deleted": True}
"""The same, by the `detail-type` of EventBridge."""

# The client of S3 lists no keys with such parts or characters.
_NO_PART, _CONTROL = frozenset({"", ".", ".."}), re.compile(r"[\x00-\x1f\x7f]")
_MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """An object of S3 that was written or removed.

    Args:
        bucket: that has it.
        key: of the object.
        is_removed: whether it is gone.
    """

    bucket: str
    key: str
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """What a message says.

    Args:
        events: about objects; none if the message is about something else, such as the test of a new notification.
        wrong: why the message, or a part of it, is not understood; empty if all of it is.
    """

    events: tuple[ObjectEvent, ...] = ()
    wrong: str = ""


@dataclass(slots=True)
class ChangedPlaces:
    """Which places below a target have changed.

    Args:
        folders: whose files are others now, relative to the target.
        lakes: folders of lake tables whose metadata are others now, with their formats.
        odd: URLs of the first objects below the target whose keys are not paths, so that no listing has them.
    """

    folders: set[str] = field(default_factory=set)
    lakes: dict[str, str] = field(default_factory=dict)
    odd: set[str] = field(default_factory=set)

    def update(self, other: ChangedPlaces) -> None:
        """Add other places."""
        self.folders |= other.folders
        self.lakes |= other.lakes
        if len(self.odd) < _MOST_NOTES:
            self.odd |= other.odd

    @property
    def number(self) -> int:
        """How many places have changed."""
        return len(self.folders) + len(self.lakes)


def read_message(body: str) -> ReadMessage:
    """Return what a message says.

    Args:
        body: of the message.
    """
    events: list[ObjectEvent] = []
    try:
        for one in _records(_without_envelope(_object(body))):
            events += one
    except (ValueError, RecursionError) as error:
        return ReadMessage(tuple(events), str(error))
    return ReadMessage(tuple(events))


def changed_places(target: Target, events: Iterable[ObjectEvent]) -> ChangedPlaces:
    """Return the places below a target that events name.

    A new file that no crawl looks at changes nothing. One that is gone may have been the last one of its folder.

    Args:
        target: on S3, with its exclusions.
        events: about objects in any bucket.
    """
    found, root = ChangedPlaces(), parse_url(target.url)
    if not isinstance(root, S3Root):
        return found
    above = f"{root.prefix}/" if root.prefix else ""
    for event in events:
        if event.bucket != root.bucket:
            continue
        if event.key == root.prefix:
            found.folders.add("")  # the target is a file
        elif event.key.startswith(above):
            _note(target, event.key[len(above) :], event, found)
    return found


def _note(target: Target, inside: str, event: ObjectEvent, found: ChangedPlaces) -> None:
    *folders, name = inside.split("/")
    if not _NO_PART.isdisjoint(folders) or name in {".", ".."} or _CONTROL.search(inside):
        if len(found.odd) < _MOST_NOTES:
            found.odd.add(f"s3://{event.bucket}/{event.key}")
        return
    folder = "/".join(folders)
    if (lake := lake_of(folder, name)) is not None:
        found.lakes[lake[0]] = lake[1]
    elif not is_below_hidden(folder):
        # A key that ends in a slash is what consoles make of a folder.
        counts = bool(name) and not is_hidden(name) and not target.excludes(inside)
        if counts or event.is_removed:
            found.folders.add(folder)


def _object(text: str) -> Mapping[str, Any]:
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is not JSON ({error})") from error
    if not isinstance(plain, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004  it is the message that is wrong
    return plain


def _without_envelope(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = plain.get("Message")
    return _object(inner) if plain.get("Type") == "Notification" and isinstance(inner, str) else plain


def _records(plain: Mapping[str, Any]) -> Iterator[list[ObjectEvent]]:
    if plain.get("Event") == "s3:TestEvent":
        return
    if isinstance(records := plain.get("Records"), list):
        wrong = ""
        for one in records:
            try:
                yield _of_record(one)
            except ValueError as error:
                wrong = wrong or str(error)
        if wrong:
            raise ValueError(wrong)
    elif plain.get("source") == "aws.s3" and "detail-type" in plain:
        yield _of_detail(plain)
    else:
        raise ValueError("it is neither an event notification of S3 nor an event of EventBridge about S3")


def _of_record(record: Any) -> list[ObjectEvent]:
    # Some stores put `s3:` in front of the name.
    kind = _text(record, "eventName").removeprefix("s3:").partition(":")[0]
    if kind not in _REMOVED:
        return []
    key = unquote_plus(_text(record, "s3", "object", "key"), errors="strict")
    return [ObjectEvent(_text(record, "s3", "bucket", "name"), key, _REMOVED[kind])]


def _of_detail(plain: Mapping[str, Any]) -> list[ObjectEvent]:
    kind = plain["detail-type"]
    if kind not in _REMOVED_IN_DETAIL:
        return []
    # Keys are as they are here, and not as in a URL.
    bucket, key = _text(plain, "detail", "bucket", "name"), _text(plain, "detail", "object", "key")
    return [ObjectEvent(bucket, key, _REMOVED_IN_DETAIL[kind])]


def _text(plain: Any, *path: str) -> str:
    found = plain
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, str) or not found:
        raise ValueError(f"it has no {'.'.join(path)}")
    return found
