"""Whether advice is followed now."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.streaming.advisor.settings import AdvisorSettings

SURE_ENOUGH = 0.3
"""Confidence below which workers are not given back; to have too many for a while costs little."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing is done; `reason` completes the sentence `The workers are kept because ...`."""

    reason: str


@dataclass(frozen=True, slots=True)
class ScaleTo:
    """So many workers are asked for, or kept of those there are."""

    workers: int


def decide(
    ordered: int, wanted: int, confidence: float, since_change_secs: float | None, settings: AdvisorSettings
) -> Keep | ScaleTo:
    """Say what follows from advice.

    Args:
        ordered: workers that are there or asked for.
        wanted: by the advice.
        confidence: confidence of the advice, 0 to 1.
        since_change_secs: since the last change; None before the first.
        settings: bounds and cool-down.
    """
    bounded = max(settings.min_workers, min(wanted, settings.max_workers))
    if bounded == ordered:
        return Keep(f"{ordered} are right")
    if since_change_secs is not None and since_change_secs < settings.cool_down_secs:
        return Keep(
            f"the last change was {since_change_secs:.0f} s ago, the cool-down is {settings.cool_down_secs:g} s"
        )
    if bounded < ordered and confidence < SURE_ENOUGH:
        return Keep(f"the advice is not sure yet ({confidence:.0%})")
    return ScaleTo(bounded)
