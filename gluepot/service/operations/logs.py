"""The operations of CloudWatch Logs that clients of Glue call: they read the logs of runs (docs/glue 11.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gluepot.service.context import Service
from gluepot.service.decisions.log_pages import Limits, Position, begin_of, log_page, position_in
from gluepot.service.decisions.log_streams import (
    CRAWLERS,
    FILES,
    LogEvent,
    LogStream,
    Window,
    run_of_stream,
    streams_of,
)
from gluepot.service.decisions.states import crawl_subject
from gluepot.service.errors import ServiceError
from gluepot.service.log_events import matches
from gluepot.service.operations.log_groups import (
    group_arn,
    group_named,
    own_group,
    position_in_names,
    refused,
    wrong_token,
)
from gluepot.service.paging import page_token

_LIMITS = Limits()
_PAGE = 50
# Larger numbers have no room in a database.
_LAST_MS = 2**62


def get_log_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of one stream. At either end its token stays the same, and clients ask again for what follows."""
    stream = _stream(service, _group(service, request), request["logStreamName"])
    window, limit = _window(request), int(request.get("limit") or _LIMITS.events)
    token = request.get("nextToken")
    kind, place = ("", None) if token is None else _place_in(token, stream)
    if kind == "b" or (place is None and not request.get("startFromHead")):
        events, end, begin = _newest(service, stream, None if place is None else place.offset, window, limit)
    else:
        place = place or begin_of(stream)
        wanted = replace(_LIMITS, events=limit)
        page = log_page([stream], _reading(service), place, lambda one: window.has(one.at_ms), wanted)
        events, end, begin = [event for _, event in page.events], page.end or place, place.offset
    return {
        "events": [_plain(event) for event in events],
        "nextForwardToken": f"f/{end.token}",
        "nextBackwardToken": f"b/{Position(stream.number, begin, 0).token}",
    }


def filter_log_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events of several streams that match a pattern, stream after stream, those of the oldest run first.

    A call opens so many streams and looks at so much text at most, so that a page may be empty and others follow, as on
    AWS. A client that follows a log goes on from the last token that it got, so it does not see the same events again.
    """
    group, names, window = _group(service, request), request.get("logStreamNames") or [], _window(request)
    pattern, limit = request.get("filterPattern", ""), int(request.get("limit") or _LIMITS.events)
    if pattern.startswith(("{", "[")):
        raise refused(f"filterPattern is {pattern!r}; use only words and quoted strings.")
    begin = None if (token := request.get("nextToken")) is None else position_in(token)
    if token is not None and begin is None:
        raise wrong_token(token)
    if names:
        named = [_stream(service, group, name) for name in dict.fromkeys(names)]
        streams = [
            one for one in sorted(named, key=lambda one: one.number) if begin is None or one.number >= begin.number
        ]
    else:
        service.logs.catch_up()
        first, prefix = begin.number if begin else 0, request.get("logStreamNamePrefix") or ""
        with service.store.changes() as changes:
            streams = changes.logs.in_range(group, window, first, _LIMITS.streams + 1, prefix)
    page = log_page(
        streams,
        _reading(service),
        begin,
        lambda one: window.has(one.at_ms) and matches(pattern, one.message),
        replace(_LIMITS, events=limit),
    )
    goes_on = page.end is not None and (page.events or not page.is_last)
    return {
        "events": [
            {**_plain(event), "logStreamName": stream.name, "eventId": f"{stream.name}/{event.offset}"}
            for stream, event in page.events
        ],
        **({"nextToken": page.end.token} if page.end is not None and goes_on else {}),
    }


def describe_log_streams(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the streams of a group: one for each run that has written to it."""
    group, most = _group(service, request), int(request.get("limit") or _PAGE)
    prefix, by_time = request.get("logStreamNamePrefix") or "", request.get("orderBy") == "LastEventTime"
    descending, token = bool(request.get("descending")), request.get("nextToken")
    if prefix and by_time:
        raise refused("logStreamNamePrefix and orderBy LastEventTime cannot be combined; omit one.")
    service.logs.catch_up()
    with service.store.changes() as changes:
        if by_time:
            after = None if token is None else _time_and_name(token)
            streams = changes.logs.by_time(group, after, most + 1, descending=descending)
        else:
            name = None if token is None else position_in_names(token)
            streams = changes.logs.by_name(group, prefix, name, most + 1, descending=descending)
    answer: dict[str, Any] = {"logStreams": [_described(service, one) for one in streams[:most]]}
    if len(streams) > most:
        last = streams[most - 1]
        answer["nextToken"] = page_token(json.dumps([last.written_ms, last.name]) if by_time else last.name)
    return answer


def _group(service: Service, request: Mapping[str, Any]) -> str:
    """Return the name of a group that exists, of runs or of clients."""
    group = group_named(str(request.get("logGroupName") or request.get("logGroupIdentifier") or ""))
    if group not in FILES:
        with service.store.changes() as changes:
            own_group(changes, group)
    return group


def _stream(service: Service, group: str, name: str) -> LogStream:
    """Return a stream; that of a crawler is the log of its newest crawl."""
    with service.store.changes() as changes:
        if group not in FILES:
            runs = []
        elif group == CRAWLERS:
            runs = changes.runs(crawl_subject(name), None, 1)
        else:
            runs = [run for run in [changes.run(run_of_stream(group, name))] if run is not None]
    new = [one for run in runs for one in streams_of(run) if (one.group, one.name) == (group, name)]
    if new:
        service.logs.catch_up([new[0].run])
    with service.store.changes() as changes:
        stream = changes.logs.stream(group, name)
    if stream is not None and (not new or stream.run == new[0].run):
        return stream
    if not new:
        raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")
    return new[0]


def _reading(service: Service) -> Callable[[LogStream, int, int], list[LogEvent]]:
    """Return what reads the next lines of a stream."""
    return lambda stream, offset, carried_ms: service.logs.events(stream.text, offset, carried_ms)


def _newest(
    service: Service, stream: LogStream, before: int | None, window: Window, limit: int
) -> tuple[list[LogEvent], Position, int]:
    """Return the last events before a place in a stream, the place behind them, and the place where they begin.

    Args:
        service: the service.
        stream: the stream.
        before: the place, in bytes; None for the end of the stream.
        window: of the events.
        limit: how many events.
    """
    begin = service.logs.tail_offset(stream.text, before)
    events = [
        event
        for event in service.logs.events(stream.text, begin, stream.created_ms)
        if before is None or event.end <= before
    ]
    wanted = [event for event in events if window.has(event.at_ms)][-limit:]
    behind = events[-1] if events else None
    end = Position(stream.number, behind.end if behind else begin, behind.at_ms if behind else stream.created_ms)
    return wanted, end, wanted[0].offset if wanted else begin


def _window(request: Mapping[str, Any]) -> Window:
    return Window(request.get("startTime") or 0, request.get("endTime"))


def _place_in(token: str, stream: LogStream) -> tuple[str, Position]:
    """Return the direction and the place that a token of GetLogEvents stands for.

    That of a stream of the same name which is no more, such as the log of an older crawl, stands for the begin.
    """
    kind, _, rest = token.partition("/")
    place = position_in(rest)
    if kind not in {"f", "b"} or place is None:
        raise wrong_token(token)
    return kind, place if place.number == stream.number else begin_of(stream)


def _time_and_name(token: str) -> tuple[int, str]:
    try:
        at_ms, name = json.loads(position_in_names(token))
    except (ValueError, TypeError, RecursionError):
        raise wrong_token(token) from None
    if not isinstance(at_ms, int) or not isinstance(name, str) or abs(at_ms) > _LAST_MS:
        raise wrong_token(token)
    return at_ms, name


def _described(service: Service, stream: LogStream) -> dict[str, Any]:
    described = {
        "logStreamName": stream.name,
        "creationTime": stream.created_ms,
        "storedBytes": stream.size,
        "arn": f"{group_arn(service, stream.group)}:log-stream:{stream.name}",
    }
    if stream.size == 0:
        return described
    # Most lines of scripts do not tell their time, so that of a run's last line is when its file was written.
    last_ms = stream.written_ms if stream.run else stream.last_ms
    times = {"firstEventTimestamp": stream.first_ms, "lastEventTimestamp": last_ms}
    return {**described, **times, "lastIngestionTime": stream.written_ms}


def _plain(event: LogEvent) -> dict[str, Any]:
    return {"timestamp": event.at_ms, "ingestionTime": event.at_ms, "message": event.message}
