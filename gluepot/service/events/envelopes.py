"""Events: those of the service itself, and those that others send. Pure (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_plus

from gluepot.core.stored_json import parsed_json
from gluepot.service.decisions.definitions import is_crawl, is_quality_run
from gluepot.service.decisions.quality_runs import place_of, reports_metrics, request_of
from gluepot.service.decisions.states import EVALUATION, Run, State, crawler_of

OWN_SOURCE = "aws.glue"
_QUALITY_SOURCE, _EVALUATED = "aws.glue-dataquality", "Data Quality Evaluation Results Available"
_TOLD = {
    State.SUCCEEDED: ("INFO", "Job run succeeded"),
    State.STOPPED: ("INFO", "Job run stopped"),
    State.FAILED: ("ERROR", "Job run failed"),
    State.TIMEOUT: ("ERROR", "Job run timed out"),
}
_OBJECT_EVENTS = {"ObjectCreated": "Object Created", "ObjectRemoved": "Object Deleted"}


class EventError(ValueError):
    """What was sent is no event.

    Args:
        message: why, for people.
        code: as PutEvents tells it for an entry.
    """

    def __init__(self, message: str, code: str = "InvalidArgument") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Origin:
    """Where events come from that say nothing else.

    Args:
        account: twelve digits.
        region: such as `us-east-1`.
    """

    account: str
    region: str

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource of Glue."""
        return f"arn:aws:glue:{self.region}:{self.account}:{kind}/{name}"


@dataclass(frozen=True, slots=True)
class News:
    """What an event says.

    Args:
        type: the kind of event, as `detail-type` names it.
        detail: its content.
        source: who says it.
        resources: ARNs of what it is about.
        at_ms: when it happened, in milliseconds since 1970; None for now.
    """

    type: str
    detail: Mapping[str, Any]
    source: str = OWN_SOURCE
    resources: Sequence[str] = ()
    at_ms: int | None = None


def envelope(news: News, origin: Origin, event_id: str, now_ms: int) -> dict[str, Any]:
    """Return an event in the form in which EventBridge delivers it."""
    at = datetime.fromtimestamp((now_ms if news.at_ms is None else news.at_ms) / 1000, UTC)
    return {
        "version": "0",
        "id": event_id,
        "detail-type": news.type,
        "source": news.source,
        "account": origin.account,
        "time": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "region": origin.region,
        "resources": list(news.resources),
        "detail": dict(news.detail),
    }


def news_of_end(run: Run, account: str = "") -> Iterator[News]:
    """Yield what is told of the end of a run; nothing for states of which AWS tells nothing."""
    if is_quality_run(run.definition):
        yield from _news_of_evaluation(run, account)
        return
    if is_crawl(run.definition):
        yield from _news_of_crawl(run, account)
        return
    if run.state not in _TOLD:
        return
    severity, message = _TOLD[run.state]
    yield News(
        "Glue Job State Change",
        {
            "jobName": run.job,
            "severity": severity,
            "state": run.state.value,
            "jobRunId": run.id,
            "message": run.error or message,
        },
        at_ms=run.completed_ms,
    )


def start_of_crawl(run: Run, account: str) -> News:
    """Return what is told of a crawl that has begun."""
    return _crawl_news(run, account, "Started", startTime=_told_time(run.started_ms))


def _news_of_evaluation(run: Run, account: str) -> Iterator[News]:
    if run.state is not State.SUCCEEDED or run.job != EVALUATION or not reports_metrics(run):
        return
    place = place_of(request_of(run)["DataSource"])
    for one in run.result["results"]:
        counts = {"RulesSucceeded": one["passed"], "RulesFailed": one["failed"], "RulesSkipped": 0}
        detail = {
            "context": {
                "contextType": "GLUE_DATA_CATALOG",
                "runId": run.id,
                "databaseName": place.database,
                "tableName": place.table,
                "catalogId": account,
            },
            "resultId": one["id"],
            "rulesetNames": [one["ruleset"]],
            "state": "FAILED" if one["failed"] else "SUCCEEDED",
            "score": one["score"],
            # AWS's guide shows them under both names.
            **{f"r{name[1:]}": count for name, count in counts.items()},
            **{f"num{name}": count for name, count in counts.items()},
        }
        yield News(_EVALUATED, detail, _QUALITY_SOURCE, at_ms=run.completed_ms)


def _news_of_crawl(run: Run, account: str) -> Iterator[News]:
    if run.state is State.SUCCEEDED:
        summary = run.result.get("summary") or {}
        counts = {
            f"{noun}{word}": str((summary.get(kind) or {}).get(verb, {}).get("Count", 0))
            for noun, kind in (("tables", "TABLE"), ("partitions", "PARTITION"))
            for word, verb in (("Created", "ADD"), ("Updated", "UPDATE"), ("Deleted", "DELETE"))
        }
        took_secs = str(round((run.completed_ms - run.started_ms) / 1000))
        told = {"completionDate": _told_time(run.completed_ms), "runningTime (sec)": took_secs, "warningMessage": "N/A"}
        yield _crawl_news(run, account, "Succeeded", **told, **counts)
    if run.state in {State.FAILED, State.ERROR, State.TIMEOUT}:
        yield _crawl_news(run, account, "Failed", errorMessage=run.error)


def _crawl_news(run: Run, account: str, state: str, **told: str) -> News:
    name = {"accountId": account, "crawlerName": crawler_of(run.job) or "", "cloudWatchLogLink": ""}
    detail = {**name, "state": state, "message": f"Crawler {state}", **told}
    return News("Glue Crawler State Change", detail, at_ms=run.completed_ms or run.started_ms)


def _told_time(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def delay_of(run: Run) -> News:
    """Return what is told of a run that takes longer than it should."""
    started = datetime.fromtimestamp(run.started_ms / 1000, UTC)
    return News(
        "Glue Job Run Status",
        {
            "jobName": run.job,
            "severity": "INFO",
            "notificationCondition": {
                "NotifyDelayAfter": float(run.definition["NotificationProperty"]["NotifyDelayAfter"])
            },
            "state": run.state.value,
            "jobRunId": run.id,
            "message": f"Job is in {run.state.value} state",
            "startedOn": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        },
    )


def news_of_entry(entry: Mapping[str, Any]) -> News:
    """Return the event of an entry of PutEvents.

    Raises:
        EventError: a member is missing, or the detail is not a JSON object.
    """
    for name in ("Source", "DetailType", "Detail"):
        if not entry.get(name):
            raise EventError(f"Parameter {name} is not valid. Reason: {name} is a required argument.")
    try:
        detail = parsed_json(entry["Detail"])
    except ValueError:
        detail = None
    if not isinstance(detail, dict):
        raise EventError("Detail is malformed.", "MalformedDetail")
    at_ms = None if entry.get("Time") is None else round(entry["Time"] * 1000)
    return News(entry["DetailType"], detail, entry["Source"], entry.get("Resources", ()), at_ms)


def received(body: Any, origin: Origin, new_id: Callable[[], str], now_ms: int) -> list[dict[str, Any]]:
    """Return the events of a request, each in the form of EventBridge.

    Args:
        body: JSON: an event of EventBridge, a list of them, or a notification of an S3 bucket (`Records`), as AWS and
            MinIO send it.
        origin: for notifications.
        new_id: makes the id of an event that has none.
        now_ms: milliseconds since 1970.

    Raises:
        EventError: it is none of these.
    """
    if isinstance(body, dict) and isinstance(body.get("Records"), list):
        return [envelope(news, origin, new_id(), now_ms) for news in _notified(body["Records"])]
    events = body if isinstance(body, list) else [body]
    found = []
    for event in events:
        missing = [
            name
            for name, kind in (("source", str), ("detail-type", str), ("detail", dict))
            if not isinstance(event, dict) or not isinstance(event.get(name), kind)
        ]
        if missing:
            raise EventError(
                f"The event has no {missing[0]}; send events with source, detail-type and detail, or notifications of"
                " an S3 bucket with Records."
            )
        found.append({**envelope(News("", {}), origin, new_id(), now_ms), **event})
    return found


def events_of_message(text: str, origin: Origin, new_id: Callable[[], str], now_ms: int) -> list[dict[str, Any]]:
    """Return the events of a message of a queue, each in the form of EventBridge; none if S3 only tries the queue.

    Args:
        text: of the message: as `received` takes it, or the same in the envelope of SNS.
        origin: for notifications.
        new_id: makes the id of an event that has none.
        now_ms: milliseconds since 1970.

    Raises:
        EventError: it is none of these.
    """
    body = _json(text)
    if isinstance(body, dict) and body.get("Type") == "Notification" and isinstance(body.get("Message"), str):
        body = _json(body["Message"])
    if isinstance(body, dict) and body.get("Event") == "s3:TestEvent":
        return []
    return received(body, origin, new_id, now_ms)


def _json(text: str) -> Any:
    try:
        return parsed_json(text)
    except ValueError:
        raise EventError("The message is not JSON.") from None


def _notified(records: Sequence[Any]) -> Iterator[News]:
    for record in records:
        try:
            kind = _OBJECT_EVENTS.get(record["eventName"].removeprefix("s3:").partition(":")[0])
            bucket, about = record["s3"]["bucket"]["name"], record["s3"]["object"]
            thing = {"key": unquote_plus(about["key"])}
        except (KeyError, TypeError, AttributeError):
            raise EventError(
                "A record has no eventName, s3.bucket.name or s3.object.key, as those of S3 have."
            ) from None
        if kind is None:
            continue
        names = {"size": "size", "eTag": "etag", "versionId": "version-id", "sequencer": "sequencer"}
        thing |= {ours: about[theirs] for theirs, ours in names.items() if theirs in about}
        yield News(
            kind,
            {
                "version": "0",
                "bucket": {"name": bucket},
                "object": thing,
                "reason": record["eventName"].removeprefix("s3:").partition(":")[2],
            },
            "aws.s3",
            [f"arn:aws:s3:::{bucket}"],
        )
