"""Decides whether to follow advice now."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.streaming.advisor.settings import AdvisorSettings

# Below this confidence, workers are not given back, because it costs little to have too many for a while.
SURE_ENOUGH = 0.3


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the workers; `reason` completes the sentence `The workers are kept because ...`."""

    reason: str


@dataclass(frozen=True, slots=True)
class ScaleTo:
    """Request or release workers, so that the given number remains."""

    workers: int


def decide(
    ordered: int, wanted: int, confidence: float, since_change_secs: float | None, settings: AdvisorSettings
) -> Keep | ScaleTo:
    """Decide what to do with advice.

    Args:
        ordered: number of workers that exist or are requested.
        wanted: number of workers that the advice wants.
        confidence: confidence of the advice, 0 to 1.
        since_change_secs: time since the last change; None before the first.
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
