"""Retries of what others answer, with waits that grow, and log lines in our words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import stamina
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from gluepot.core.errors import EtlError, TransientError
from gluepot.core.logging import get_logger

log = get_logger(__name__)


def attempts(secs: float, most_wait_secs: float) -> Iterable[stamina.Attempt]:
    """Return attempts, each a context manager, until one raises no TransientError or the time is up.

    Args:
        secs: how long to try; the last TransientError is raised then.
        most_wait_secs: the longest wait between two attempts.
    """
    tell_in_our_words()
    return stamina.retry_context(TransientError, attempts=None, timeout=secs, wait_max=most_wait_secs)


@cache
def tell_in_our_words() -> None:
    """Log retries after our own errors like our other lines; a script's own use of stamina stays as it is."""
    others = get_on_retry_hooks()

    def told(details: RetryDetails) -> None:
        if isinstance(details.caused_by, EtlError):
            log.warning(
                "tried_again",
                attempt=details.retry_num,
                wait_secs=round(details.wait_for, 1),
                reason=str(details.caused_by),
            )
            return
        for hook in others:
            hook(details)

    set_on_retry_hooks([told])
