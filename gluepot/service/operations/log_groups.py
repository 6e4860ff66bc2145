"""Log groups that clients create in CloudWatch Logs, and what they write there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluepot.service.context import Service
from gluepot.service.decisions.log_streams import FILES, LogStream, spanning
from gluepot.service.decisions.put_events import accepted, spans_too_long, wrong_with
from gluepot.service.errors import ServiceError
from gluepot.service.log_events import put_text
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import page_token, position_of
from gluepot.service.store.database import Changes
from gluepot.service.store.definitions import Definition, Kind
from gluepot.service.store.log_chunks import Chunk

_PAGE = 50
_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
_DAYS_MEMBER = "retentionInDays"


def create_log_group(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Create a group."""
    name, tags, now_ms = request["logGroupName"], request.get("tags") or {}, service.now_ms()
    check_tags(tags)
    kept = {one: request[one] for one in ("kmsKeyId", "logGroupClass") if request.get(one)}
    with service.store.changes() as changes:
        if name in FILES or not changes.definitions.add(Definition(Kind.LOG_GROUP, name, kept, now_ms, now_ms)):
            raise ServiceError("ResourceAlreadyExistsException", "The specified log group already exists")
        changes.tag(group_arn(service, name), tags)
    return {}


def delete_log_group(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a group with its streams."""
    name = request["logGroupName"]
    with service.store.changes() as changes:
        own_group(changes, name)
        changes.definitions.delete(Kind.LOG_GROUP, name)
        changes.logs.delete_group(name)
        changes.log_chunks.forget_group(name)
        changes.untag(group_arn(service, name))
    return {}


def describe_log_groups(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the groups, those of runs and those of clients, in the order of their names."""
    most, token = int(request.get("limit") or _PAGE), request.get("nextToken")
    prefix, part = request.get("logGroupNamePrefix") or "", request.get("logGroupNamePattern") or ""
    if prefix and part:
        raise refused("logGroupNamePrefix and logGroupNamePattern cannot be combined; omit one.")
    after = position_in_names(token)
    with service.store.changes() as changes:
        own = {one.name: one for one in changes.definitions.all(Kind.LOG_GROUP)}
        names = sorted(
            name for name in {*own, *FILES} if name > after and name.startswith(prefix) and part.lower() in name.lower()
        )
        sizes = changes.logs.stored_bytes([name for name in names[:most] if name in own])
    page = [_described(service, name, own.get(name), sizes.get(name, 0)) for name in names[:most]]
    return {"logGroups": page, **({"nextToken": page_token(names[most - 1])} if len(names) > most else {})}


def create_log_stream(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Create a stream in a group of clients."""
    group, name = request["logGroupName"], request["logStreamName"]
    with service.store.changes() as changes:
        changes.alone()
        own_group(changes, group)
        if changes.logs.stream(group, name) is not None:
            raise ServiceError("ResourceAlreadyExistsException", "The specified log stream already exists")
        changes.logs.add(group, name, service.now_ms())
    return {}


def delete_log_stream(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a stream with its events."""
    with service.store.changes() as changes:
        stream = _own_stream(changes, request)
        changes.logs.delete(stream)
        changes.log_chunks.forget([stream.group], [stream.number])
    return {}


def put_log_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add events to a stream; those that are too old or too new are left out, and the answer tells which."""
    events = [(one["timestamp"], one["message"]) for one in request["logEvents"]]
    if (wrong := wrong_with(events)) is not None:
        raise refused(wrong)
    now_ms = service.now_ms()
    with service.store.changes() as changes:
        changes.alone()
        stream = _own_stream(changes, request)
        kept = accepted(events, own_group(changes, stream.group).body.get(_DAYS_MEMBER), now_ms)
        if spans_too_long(kept.events):
            raise refused("The batch of log events in a single PutLogEvents request cannot span more than 24 hours.")
        # Where all text has expired, events are counted on from beyond any that there were: none has less than a byte.
        end = changes.log_chunks.end(stream.group, stream.number) or stream.size
        if kept.events:
            times = [at_ms for at_ms, _ in kept.events]
            chunk = Chunk(end, end := end + len(times), max(times), put_text(kept.events))
            changes.log_chunks.add(stream.group, stream.number, chunk)
            size = stream.size + sum(len(message.encode()) for _, message in kept.events)
            changes.logs.change(replace(spanning(stream, times), written_ms=now_ms, size=size))
    rejected = {"rejectedLogEventsInfo": kept.rejected} if kept.rejected else {}
    return {"nextSequenceToken": f"{end:056}", **rejected}


def put_retention_policy(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Choose for how long a group keeps events."""
    days = request[_DAYS_MEMBER]
    if days not in _DAYS:
        raise refused(f"{_DAYS_MEMBER} is {days}; use one of {', '.join(map(str, _DAYS))}.")
    return _with_days(service, request, {_DAYS_MEMBER: days})


def delete_retention_policy(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Let a group keep its events for ever."""
    return _with_days(service, request, {})


def list_tags_for_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags of a group."""
    with service.store.changes() as changes:
        tags = changes.tags(_tagged(service, changes, request))
    return {"tags": tags} if tags else {}


def tag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add tags to a group, or give them other values."""
    with service.store.changes() as changes:
        arn = _tagged(service, changes, request)
        check_tags({**changes.tags(arn), **request["tags"]})
        changes.tag(arn, request["tags"])
    return {}


def untag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove tags from a group."""
    with service.store.changes() as changes:
        changes.tag(_tagged(service, changes, request), {}, request["tagKeys"])
    return {}


def own_group(changes: Changes, name: str) -> Definition:
    """Return a group that a client has created.

    Raises:
        ServiceError: there is none of this name, or it is a group of runs, which nobody else writes.
    """
    if name in FILES:
        raise refused(f"{name} contains the logs of runs and cannot be changed; use another log group.")
    found = changes.definitions.get(Kind.LOG_GROUP, name)
    if found is None:
        raise ServiceError("ResourceNotFoundException", "The specified log group does not exist.")
    return found


def group_arn(service: Service, name: str) -> str:
    """Return the ARN of a group."""
    return f"arn:aws:logs:{service.region}:{service.account}:log-group:{name}"


def group_named(given: str) -> str:
    """Return the name of a group, which a request may also give as an ARN."""
    return given.partition(":log-group:")[2].removesuffix(":*") or given


def position_in_names(token: str | None) -> str:
    """Return the name that a token stands for; an empty text for the first page."""
    try:
        return position_of(token)
    except ServiceError:
        raise wrong_token(token) from None


def wrong_token(token: str | None) -> ServiceError:
    """Return the error for a token that no answer had."""
    return refused(f"nextToken is {token!r}; use a token from an earlier response.")


def refused(message: str) -> ServiceError:
    """Return the error for a request that is not well-formed."""
    return ServiceError("InvalidParameterException", message)


def _own_stream(changes: Changes, request: Mapping[str, Any]) -> LogStream:
    group = own_group(changes, request["logGroupName"]).name
    stream = changes.logs.stream(group, request["logStreamName"])
    if stream is None:
        raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")
    return stream


def _with_days(service: Service, request: Mapping[str, Any], days: Mapping[str, int]) -> dict[str, Any]:
    with service.store.changes() as changes:
        group = own_group(changes, request["logGroupName"])
        body = {name: value for name, value in group.body.items() if name != _DAYS_MEMBER}
        changes.definitions.save(group.changed({**body, **days}, service.now_ms()))
    return {}


def _tagged(service: Service, changes: Changes, request: Mapping[str, Any]) -> str:
    name = group_named(request["resourceArn"])
    if name not in FILES:
        own_group(changes, name)
    return group_arn(service, name)


def _described(service: Service, name: str, own: Definition | None, size: int) -> dict[str, Any]:
    arn = group_arn(service, name)
    described = {"logGroupName": name, "logGroupClass": "STANDARD", "arn": f"{arn}:*", "logGroupArn": arn}
    return described if own is None else {**described, **own.body, "creationTime": own.created_ms, "storedBytes": size}
