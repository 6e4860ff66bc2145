"""How long to wait before something is tried again."""

from __future__ import annotations


def backoff_secs(attempt: int, base_secs: float, cap_secs: float, chance: float) -> float:
    """Return how long to wait after the `attempt`-th failure in a row, with full jitter.

    So callers that were throttled together try again at different times (AWS Architecture Blog, "Exponential Backoff
    And Jitter").

    Args:
        attempt: 1 for the first failure.
        base_secs: longest wait after the first failure.
        cap_secs: longest wait of all.
        chance: between 0 and 1, evenly distributed.
    """
    return chance * float(min(cap_secs, base_secs * 2.0 ** min(attempt - 1, 30)))
