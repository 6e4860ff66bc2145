"""Delivery of events to URLs and topics: each at least once, and again for a day if the other side does not take it."""

from __future__ import annotations

from dataclasses import dataclass, replace

GIVEN_UP_AFTER_SECS = 24 * 3600
"""How long a delivery is tried, as by EventBridge."""
CLAIM_SECS = 60
"""For how long no other service tries a delivery that one has begun."""
_LONGEST_WAIT_SECS = 300
_TO_RETRY = frozenset({401, 407, 408, 409, 429})


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event, or a change of an alarm, to send.

    Args:
        number: its place in the order of all.
        url: where it goes: a URL, or the ARN of a topic of SNS.
        body: what is sent, as JSON.
        since_ms: when it happened, in milliseconds since 1970.
        next_ms: when to try next.
        attempts: how often it was tried.
    """

    number: int
    url: str
    body: str
    since_ms: int
    next_ms: int
    attempts: int


def claimed(delivery: Delivery, now_ms: int) -> Delivery:
    """Return a delivery that is being tried: nobody else does for a while, unless its service is killed."""
    return replace(delivery, next_ms=now_ms + CLAIM_SECS * 1000, attempts=delivery.attempts + 1)


def is_taken(status: int | None) -> bool:
    """Return whether an answer means that the other side has the event; `status` is None without an answer."""
    return status is not None and 200 <= status < 300


def next_attempt(delivery: Delivery, status: int | None, now_ms: int) -> Delivery | None:
    """Return a delivery that failed, with the time of its next attempt; None if it is given up.

    Args:
        delivery: as it was claimed.
        status: of the answer; None if there was none.
        now_ms: milliseconds since 1970.
    """
    refused = status is not None and 400 <= status < 500 and status not in _TO_RETRY
    if refused or now_ms - delivery.since_ms >= GIVEN_UP_AFTER_SECS * 1000:
        return None
    wait_secs = min(2 ** min(delivery.attempts, 20), _LONGEST_WAIT_SECS)
    return replace(delivery, next_ms=now_ms + wait_secs * 1000)
