"""What a run would have cost on AWS Glue. Pure."""

from __future__ import annotations

from gluepot.core.glue_prices import BILLED_SECS, USD_PER_DPU_HOUR, USD_PER_FLEX_DPU_HOUR
from gluepot.service.decisions.definitions import capacity, is_flex
from gluepot.service.decisions.states import Run


def execution_secs(run: Run, now_ms: int) -> int:
    """Return for how long the process of a run has run, in whole seconds; 0 if it has not begun."""
    return ((run.completed_ms or now_ms) - run.running_ms) // 1000 if run.running_ms else 0


def dpu_secs(run: Run, now_ms: int) -> float:
    """Return the seconds that a run has run, times its data processing units; 0 if it has not begun."""
    return execution_secs(run, now_ms) * float(capacity(run.definition)["MaxCapacity"]) if run.running_ms else 0.0


def usd_on_glue(run: Run, now_ms: int) -> float:
    """Return what a run costs on AWS Glue, where each is billed for a minute at least; 0 if it has not begun."""
    if not run.running_ms:
        return 0.0
    billed_secs = max(BILLED_SECS, execution_secs(run, now_ms))
    usd_per_dpu_hour = USD_PER_FLEX_DPU_HOUR if is_flex(run.definition) else USD_PER_DPU_HOUR
    return billed_secs / 3600 * float(capacity(run.definition)["MaxCapacity"]) * usd_per_dpu_hour
