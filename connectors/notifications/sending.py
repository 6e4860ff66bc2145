"""What all targets of notifications share."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from gluepot.connectors.aws.errors import PASSING, plain_code
from gluepot.connectors.documents.bulk import REFUSED, Answer, Entry, Limits, Send, T, send_all
from gluepot.connectors.json_values import json_document
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError

ID = "gluepot_id"
"""The name under which a message carries the id of its row, where the service has no place of its own for it."""


DEFAULT_GROUP = "gluepot"
"""The group of all messages of a FIFO queue or topic, if no column gives groups."""


def message(at: int, document: Document, body_name: str, *, is_fifo: bool, group_column: str) -> Entry[dict[str, Any]]:
    """Return a message of SQS or SNS.

    Args:
        at: which document it is.
        document: the row.
        body_name: the service's name for the text.
        is_fifo: whether the queue or topic keeps the order of groups.
        group_column: the column whose value is the group; empty for one group for all.
    """
    body = json_document(document.fields).decode()
    made: dict[str, Any] = {
        body_name: body,
        "MessageAttributes": {ID: {"DataType": "String", "StringValue": document.id}},
    }
    group = ""
    if is_fifo:
        group = str(document.fields.get(group_column, DEFAULT_GROUP))
        made |= {"MessageGroupId": group, "MessageDeduplicationId": document.id}
    return Entry(at, made, len(body.encode()) + len(ID) + len("String") + len(document.id), group)


def notify(entries: Sequence[Entry[T]], send: Send[T], limits: Limits, where: str) -> list[Refusal]:
    """Send entries; see `send_all`."""
    return send_all(entries, send, limits, where, SystemClock(), random.Random().random)  # noqa: S311  for jitter


def by_entry(part: Sequence[Entry[T]], codes: Mapping[int, tuple[str, str]], where: str) -> Answer[T]:
    """Return what is left of a call.

    Args:
        part: the entries of the call.
        codes: code and message of each entry that failed, by its place in the call.
        where: what was called, for messages.
    """
    again, refused, said = [], [], ""
    for at, (code, message) in codes.items():
        if plain_code(code) in PASSING:
            again.append(part[at])
            said = f"{code}: {message}"
        else:
            refused.append(Refusal(part[at].index, REFUSED, f"{where} refuses it ({code}: {message})."))
    return Answer(again, refused, said)


def failed_by_id(answer: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    """Return the failures of a batch of SQS or SNS, whose entries have their place in the call as their id.

    A failure of the sender, such as a wrong character, is never sent again, whatever its code.
    """
    failed = {}
    for one in answer.get("Failed", ()):
        code = str(one.get("Code", ""))
        if not one.get("SenderFault", True) and plain_code(code) not in PASSING:
            code = "InternalError"
        failed[int(one["Id"])] = (code, str(one.get("Message", "")))
    return failed


def required(given: ScriptOptions, *options: str) -> str:
    """Return the first of some options that is given.

    Raises:
        ConfigError: none is.
    """
    for option in options:
        if text := given.text(option):
            return text
    raise ConfigError(f"{' or '.join(options)} is missing; give connection_options={{'{options[0]}': ...}}.")
