"""The operations of CloudWatch Logs that clients of Glue call: they read the logs of runs (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluepot.service.context import Service
from gluepot.service.decisions.definitions import PYTHON_SHELL, QUALITY
from gluepot.service.decisions.states import Run, crawl_subject
from gluepot.service.errors import ServiceError
from gluepot.service.launch.processes import ERROR, OUTPUT
from gluepot.service.log_events import LogEvent, matches, read_events, tail_offset
from gluepot.service.operations.crawlers import LOG_GROUP as CRAWLERS
from gluepot.service.operations.quality_runs import LOG_GROUP as QUALITY_LOG_GROUP
from gluepot.service.operations.runs import LOG_GROUP, SHELL_LOG_GROUP

_COMMANDS = {LOG_GROUP: "", SHELL_LOG_GROUP: PYTHON_SHELL, QUALITY_LOG_GROUP: QUALITY}
_FILES = {f"{group}/{kind}": file for group in _COMMANDS for kind, file in (("output", OUTPUT), ("error", ERROR))} | {
    CRAWLERS: OUTPUT
}
_MOST_EVENTS = 10_000
_PAGE = 50


def get_log_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of one stream. At its end the token stays the same, and clients ask again for what follows."""
    group = _group(request)
    file, run = _file(group), _run(service, request["logStreamName"], group)
    path = service.run_folder(run.id) / file
    if token := request.get("nextToken"):
        offset = _offset(token)
    else:
        offset = 0 if request.get("startFromHead") else tail_offset(path)
    events = list(_chosen(read_events(path, offset, run.started_ms), request))[: request.get("limit", _MOST_EVENTS)]
    forward = events[-1].end if events else offset
    return {
        "events": [_plain(event) for event in events],
        "nextForwardToken": f"f/{forward}",
        "nextBackwardToken": f"b/{offset}",
    }


def filter_log_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events of several streams that match a pattern, stream after stream, those of the oldest run first.

    As on AWS, only a page without events can be the last one. A client that follows a log goes on from the last token
    that it got, so it does not see the same events again.
    """
    file = _file(_group(request))
    names = request.get("logStreamNames") or _streams(service, request)
    pattern, limit = request.get("filterPattern", ""), request.get("limit", _MOST_EVENTS)
    if pattern.startswith(("{", "[")):
        raise ServiceError(
            "InvalidParameterException", f"filterPattern is {pattern!r}; only words and quoted texts are known here."
        )
    first, offset = _place(request.get("nextToken"), names)
    found: list[dict[str, Any]] = []
    for name in names[first:]:
        run = _run(service, name, _group(request))
        events = list(read_events(service.run_folder(run.id) / file, offset, run.started_ms))
        for event in _chosen(iter(events), request):
            if len(found) == limit:
                return {"events": found, "nextToken": f"{name}/{event.offset}"}
            if matches(pattern, event.message):
                found.append({**_plain(event), "logStreamName": name, "eventId": f"{name}/{event.offset}"})
        end = events[-1].end if events else offset
        if events and list(read_events(service.run_folder(run.id) / file, end, run.started_ms)):
            return {"events": found, "nextToken": f"{name}/{end}"}
        offset = 0
    return {"events": found, **({"nextToken": f"{name}/{end}"} if found else {})}


def describe_log_streams(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the streams of a group: one for each run that has written to it."""
    _file(_group(request))
    prefix, by_time = request.get("logStreamNamePrefix", ""), request.get("orderBy") == "LastEventTime"
    if prefix and by_time:
        raise ServiceError(
            "InvalidParameterException", "logStreamNamePrefix and orderBy LastEventTime exclude each other; omit one."
        )
    paths = {name: _path(service, name, _group(request)) for name in sorted(_streams(service, request))}
    with_file = [name for name, path in paths.items() if path.exists()]
    if by_time:
        with_file.sort(key=lambda name: paths[name].stat().st_mtime)
    if request.get("descending"):
        with_file.reverse()
    begin = int(token) if (token := request.get("nextToken", "0")).isdecimal() else 0
    page = with_file[begin : begin + request.get("limit", _PAGE)]
    end = begin + len(page)
    return {
        "logStreams": [_stream(service, _group(request), name, paths[name]) for name in page],
        **({"nextToken": str(end)} if end < len(with_file) else {}),
    }


def describe_log_groups(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups."""
    prefix = request.get("logGroupNamePrefix", "")
    return {
        "logGroups": [{"logGroupName": name, "arn": _arn(service, name)} for name in _FILES if name.startswith(prefix)]
    }


def _group(request: Mapping[str, Any]) -> str:
    """Return the name of the group, which a request may also give as an ARN."""
    given = str(request.get("logGroupName") or request.get("logGroupIdentifier") or "")
    return given.partition(":log-group:")[2].removesuffix(":*") or given


def _file(group: str) -> str:
    if group not in _FILES:
        raise ServiceError(
            "ResourceNotFoundException", f"The log group {group} does not exist; use {', '.join(_FILES)}."
        )
    return _FILES[group]


def _run(service: Service, stream: str, group: str) -> Run:
    """Return the run whose log a stream is; that of a crawler is the log of its newest crawl."""
    with service.store.changes() as changes:
        found: Run | None
        if group == CRAWLERS:
            found = next(iter(changes.runs(crawl_subject(stream), None, 1)), None)
        else:
            found = changes.run(stream)
    if found is None:
        raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")
    return found


def _streams(service: Service, request: Mapping[str, Any]) -> list[str]:
    """Return the streams with names that begin so, the oldest first: new ones do not move the others."""
    prefix, group = request.get("logStreamNamePrefix", ""), _group(request)
    with service.store.changes() as changes:
        if group == CRAWLERS:
            names = [one.name for one in changes.crawlers.all() if one.name.startswith(prefix)]
            return [name for name in names if changes.runs(crawl_subject(name), None, 1)]
        return changes.run_ids(prefix, _COMMANDS[group.rpartition("/")[0]])[::-1]


def _path(service: Service, stream: str, group: str) -> Path:
    run_id = _run(service, stream, group).id if group == CRAWLERS else stream
    return service.run_folder(run_id) / _FILES[group]


def _place(token: str | None, names: Sequence[str]) -> tuple[int, int]:
    """Return where a page begins: the number of the stream, and the offset in it."""
    if token is None:
        return 0, 0
    name, _, offset = token.partition("/")
    if name not in names or not offset.isdecimal():
        raise ServiceError("InvalidParameterException", f"nextToken is {token!r}, which no answer had.")
    return names.index(name), int(offset)


def _stream(service: Service, group: str, name: str, path: Path) -> dict[str, Any]:
    status = path.stat()
    written_ms = round(status.st_mtime * 1000)
    return {
        "logStreamName": name,
        "lastEventTimestamp": written_ms,
        "lastIngestionTime": written_ms,
        "storedBytes": status.st_size,
        "arn": f"{_arn(service, group)}:log-stream:{name}",
    }


def _arn(service: Service, group: str) -> str:
    return f"arn:aws:logs:{service.region}:{service.account}:log-group:{group}"


def _chosen(events: Iterator[LogEvent], request: Mapping[str, Any]) -> Iterator[LogEvent]:
    begin, end = request.get("startTime", 0), request.get("endTime", float("inf"))
    return (event for event in events if begin <= event.at_ms < end)


def _offset(token: str) -> int:
    kind, _, offset = token.partition("/")
    if kind not in {"f", "b"} or not offset.isdecimal():
        raise ServiceError("InvalidParameterException", f"nextToken is {token!r}, which no answer had.")
    return int(offset)


def _plain(event: LogEvent) -> dict[str, Any]:
    return {"timestamp": event.at_ms, "ingestionTime": event.at_ms, "message": event.message}
