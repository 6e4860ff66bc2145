"""Calls that take many entries at once and answer for each: what is left is sent again, what is refused is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeVar

from gluepot.connectors.values import Refusal
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock
from gluepot.core.errors import PermanentError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.task_events import EVENTS, THROTTLED_WRITES

T = TypeVar("T")

BACKOFF_BASE_SECS, BACKOFF_CAP_SECS = 0.1, 5.0
DEADLINE_SECS = 300.0
"""How long one call is repeated while the service does not take an entry because of throttling or an outage."""


REFUSED = "refused_by_store"
"""The reason of a row that the service itself refuses."""


class Refused(PermanentError):
    """The service does not accept a call as it is.

    Args:
        message: see `PermanentError`.
        said: code and message of the service.
    """

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


# It is not frozen, which would make its construction, once for each row, three times as slow.
@dataclass(slots=True)
class Entry(Generic[T]):
    """A document in the form in which it is sent; it is never changed.

    Args:
        index: which document it is.
        body: what is sent.
        size_bytes: the size that it adds to a call.
        key: entries with one key must arrive in order, one after the other; empty if the order means nothing.
    """

    index: int
    body: T
    size_bytes: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What became of the entries of a call that are not done.

    Args:
        again: to be sent again, in order.
        refused: never to be sent again.
        said: why the service did not take those of `again`.
    """

    again: Sequence[Entry[T]] = ()
    refused: Sequence[Refusal] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call takes.

    Args:
        entries: largest number of entries.
        size_bytes: largest size of all of them.
        at_once: how many calls may be under way.
    """

    entries: int
    size_bytes: int
    at_once: int = 4


Send = Callable[[Sequence[Entry[T]]], Answer[T]]


def calls(entries: Iterable[Entry[T]], limits: Limits) -> Iterator[list[Entry[T]]]:
    """Yield entries in order, as many at a time as one call takes.

    A key occurs at most once in a call: the entries of a call succeed or fail one by one, so that a later one of the
    same key must wait for the earlier one.
    """
    call: list[Entry[T]] = []
    keys: set[str] = set()
    size = 0
    for one in entries:
        is_full = len(call) == limits.entries or size + one.size_bytes > limits.size_bytes
        if call and (is_full or one.key in keys):
            yield call
            call, keys, size = [], set(), 0
        call.append(one)
        size += one.size_bytes
        if one.key:
            keys.add(one.key)
    if call:
        yield call


def send_all(
    entries: Iterable[Entry[T]],
    send: Send[T],
    limits: Limits,
    where: str,
    clock: Clock,
    chance: Callable[[], float],
) -> list[Refusal]:
    """Send entries until the service has taken or refused each; return what it refused, in order.

    Calls are made side by side unless entries have keys.

    Args:
        entries: in order. Those of an iterator are made while the ones before them are sent; if some of them have keys,
            `limits` must allow one call at a time only.
        send: makes one call.
        limits: what a call takes.
        where: what is called, for messages.
        clock: for waits.
        chance: numbers between 0 and 1, evenly distributed.

    Raises:
        TransientError: the service did not take an entry within the deadline.
        ConfigError: nothing can be sent.
    """

    def deliver(call: list[Entry[T]]) -> list[Refusal]:
        return _deliver(call, send, where, clock, chance)

    in_order = limits.at_once == 1 or (isinstance(entries, Sequence) and any(one.key for one in entries))
    parts = calls(entries, limits)
    first = list(islice(parts, 2))
    if in_order or len(first) < 2:
        found = [deliver(call) for call in chain(first, parts)]
    else:
        found = _side_by_side(chain(first, parts), deliver, limits.at_once)
    return sorted(chain.from_iterable(found), key=lambda one: one.index)


def _side_by_side(
    parts: Iterable[list[Entry[T]]], deliver: Callable[[list[Entry[T]]], list[Refusal]], at_once: int
) -> list[list[Refusal]]:
    """Deliver calls on threads. No more calls are made ready than there are threads, so that few entries are alive."""
    found: list[list[Refusal]] = []
    under_way: deque[Future[list[Refusal]]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="gluepot-puts") as pool:
        for call in parts:
            if len(under_way) == at_once:
                found.append(under_way.popleft().result())
            under_way.append(pool.submit(deliver, call))
        found += [one.result() for one in under_way]
    return found


def _deliver(
    call: Sequence[Entry[T]], send: Send[T], where: str, clock: Clock, chance: Callable[[], float]
) -> list[Refusal]:
    refused: list[Refusal] = []
    failures, deadline = 0, clock.monotonic() + DEADLINE_SECS
    waiting: list[Sequence[Entry[T]]] = [call]
    while waiting:
        part = waiting.pop(0)
        try:
            answer = _answer(part, send, where)
        except Refused:  # which entry is meant is not said, so each is sent alone
            waiting[:0] = [[one] for one in part]
            continue
        refused += answer.refused
        reach("documents.sent")
        if not answer.again:
            failures = 0
            continue
        waiting.insert(0, answer.again)
        failures += 1
        EVENTS.add(THROTTLED_WRITES, len(answer.again))
        held_up = f"{where} has not accepted {len(answer.again)} of {len(part)} rows yet ({answer.said})."
        if clock.monotonic() > deadline:
            raise TransientError(held_up)
        if failures == 1:
            configure_once()  # A worker is a separate process.
            get_logger(__name__).warning("puts_held_up", rows=len(answer.again), reason=held_up)
        clock.sleep(backoff_secs(failures, BACKOFF_BASE_SECS, BACKOFF_CAP_SECS, chance()))
    return refused


def _answer(part: Sequence[Entry[T]], send: Send[T], where: str) -> Answer[T]:
    try:
        return send(part)
    except TransientError as away:
        return Answer(again=part, said=str(away))
    except Refused as refusal:
        if len(part) > 1:
            raise
        return Answer(refused=[Refusal(part[0].index, REFUSED, f"{where} refuses it ({refusal.said}).")])
