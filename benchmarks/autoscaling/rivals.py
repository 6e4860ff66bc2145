"""The other rules, each as it was published, with the knobs that its authors give it.

Sources: DS2 (OSDI 2018; strymon-system/ds2), Apache Flink's autoscaler (flink-kubernetes-operator), Kubernetes' HPA,
KEDA's Kafka scaler, Spark's DStream allocation (spark.streaming.dynamicAllocation), AWS Glue's guide on streaming
auto scaling. All decide once a batch and see what ours sees; the two static ones are told the load's peak and mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.autoscaling.loads import SLO_SECS, WINDOW_SECS
from benchmarks.autoscaling.plant import MAX_WORKERS, Policy, World
from gluepot.streaming.advisor import AdvisorSettings, Observation, advise

MakePolicy = Callable[[World], Policy]
History = Sequence[Observation]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its knob at several places.

    Args:
        name: as the report shows it.
        published: key in `settings` of its published defaults.
        settings: a way to make a policy for a run, by the setting's name.
    """

    name: str
    published: str
    settings: Mapping[str, MakePolicy]


def ours(target_use: float | None = None) -> MakePolicy:
    """Follow the advisor as it is, or with another target."""
    settings = AdvisorSettings(max_workers=MAX_WORKERS, sla_secs=SLO_SECS, repartitions=True, target_use=target_use)
    return lambda _: lambda history: advise(history, settings).wanted_workers


def static(share: float, *, peak: bool) -> MakePolicy:
    """Keep what the peak, or the mean, times `share` needs."""

    def make(world: World) -> Policy:
        rate = float(world.rows_per_sec.max() if peak else world.rows_per_sec.mean())
        count = world.workers_for(rate * share)
        return lambda _: count

    return make


def hpa(target: float) -> MakePolicy:
    """Scale on busy CPU over a batch's period; tolerance 10 %, scale-down only to the highest of five minutes."""

    def make(_: World) -> Policy:
        wishes: list[tuple[float, int]] = []

        def policy(history: History) -> int:
            last, now = history[-1], history[-1].ended_epoch
            use = last.task_secs / (last.workers * max(last.secs, WINDOW_SECS))
            ratio = use / target
            wish = last.workers if abs(ratio - 1) <= 0.1 else math.ceil(last.workers * ratio)
            wishes.append((now, wish))
            wishes[:] = [one for one in wishes if one[0] > now - 300]
            return max(wish, min(last.ordered_workers, max(one for _, one in wishes)))

        return policy

    return make


def keda(threshold_windows: float) -> MakePolicy:
    """Take one worker for so many waiting rows; HPA's five minutes before fewer.

    The published threshold, 10 rows, asks for the maximum always; so it is given here in windows of one worker's work.
    """

    def make(world: World) -> Policy:
        threshold = max(10.0, threshold_windows * world.worker_rate * WINDOW_SECS)
        wishes: list[tuple[float, int]] = []

        def policy(history: History) -> int:
            last = history[-1]
            wishes.append((last.ended_epoch, max(1, math.ceil(last.waiting / threshold))))
            wishes[:] = [one for one in wishes if one[0] > last.ended_epoch - 300]
            return max(one for _, one in wishes)

        return policy

    return make


def dstreams(up: float, down: float) -> MakePolicy:
    """Compare batch time with the window once a minute; one more, or as many as the ratio says; one fewer."""

    def policy(history: History) -> int:
        last = history[-1]
        ratio = last.secs / WINDOW_SECS
        if ratio >= up:
            return last.ordered_workers + max(round(ratio), 1)
        return last.ordered_workers - 1 if ratio <= down else last.ordered_workers

    return lambda _: policy


def doubling(up: float, down: float) -> MakePolicy:
    """Double or halve on the moving average of batch time over window, as Glue's guide describes its own."""

    def make(_: World) -> Policy:
        average = [0.0]

        def policy(history: History) -> int:
            last = history[-1]
            average[0] = (
                last.secs / WINDOW_SECS if len(history) == 1 else 0.5 * average[0] + 0.5 * last.secs / WINDOW_SECS
            )
            if average[0] > up and last.ordered_workers == last.workers:
                average[0] = up
                return 2 * last.workers
            if average[0] < down:
                average[0] = up
                return math.ceil(last.workers / 2)
            return last.ordered_workers

        return policy

    return make


def ds2(margin: float, batches: int = 3) -> MakePolicy:
    """Divide the input rate by the rate of useful time of one worker, both over some batches, plus a margin."""

    def policy(history: History) -> int:
        lately = history[-batches:]
        useful = sum(one.task_secs for one in lately)
        rows = sum(one.rows for one in lately)
        rate = _input_rate(history, batches)
        return math.ceil(rate * useful / rows * (1 + margin)) if rows else history[-1].ordered_workers

    return lambda _: policy


def flink(
    use: float = 0.7,
    *,
    window_batches: int = 15,
    stabilise_secs: float = 300.0,
    down_secs: float = 3600.0,
    catch_up_secs: float = 1800.0,
    restart_secs: float = 300.0,
) -> MakePolicy:
    """Sum lag over catch-up time, rate times restart over catch-up time, and rate over target use.

    A change follows only outside of the band of 0.3 around the target, after the metric window was filled since the
    last change, and downwards only an hour after the last and by 60 % at most.
    """

    def make(_: World) -> Policy:
        changed = [-1e9, 1.0]

        def policy(history: History) -> int:
            last, now = history[-1], history[-1].ended_epoch
            ordered = last.ordered_workers
            if now - changed[0] < stabilise_secs or last.workers != ordered:
                return ordered
            lately = history[-window_batches:]
            true_rate = sum(one.rows for one in lately) / max(sum(one.task_secs for one in lately), 1e-9)
            rate = _input_rate(history, window_batches)
            extra = last.waiting / catch_up_secs + rate * restart_secs / catch_up_secs
            capacity = ordered * true_rate
            if rate / (use + 0.3) + extra <= capacity and rate / max(use - 0.3, 0.05) + extra >= capacity:
                return ordered
            wanted = math.ceil((rate / use + extra) / true_rate)
            if wanted < ordered:
                if now - changed[0] < down_secs:
                    return ordered
                wanted = max(wanted, math.ceil(0.4 * ordered))
            if wanted != ordered:
                changed[0] = now
            return wanted

        return policy

    return make


def _input_rate(history: History, batches: int) -> float:
    """Return rows per second that arrived over the last batches."""
    lately = history[-batches - 1 :]
    if len(lately) < 2:
        return history[-1].rows / WINDOW_SECS
    arrived = sum(one.rows for one in lately[1:]) + lately[-1].waiting - lately[0].waiting
    return max(0.0, arrived / (lately[-1].ended_epoch - lately[0].ended_epoch))


OURS = Rule(
    "advisor",
    "as shipped",
    {"as shipped": ours(), **{f"use {use:.2f}": ours(use) for use in (0.8, 0.86, 0.92, 1.0)}},
)
RIVALS: Sequence[Rule] = (
    Rule("static peak", "x1", {f"x{share:g}": static(share, peak=True) for share in (0.8, 0.9, 1, 1.1, 1.25)}),
    Rule("static mean", "x1", {f"x{share:g}": static(share, peak=False) for share in (1, 1.5, 2, 2.5, 3)}),
    Rule("HPA", "80 %", {f"{target:.0%}".replace("%", " %"): hpa(target) for target in (0.4, 0.5, 0.6, 0.7, 0.8)}),
    Rule("KEDA lag", "0", {f"{share:g}": keda(share) for share in (0, 0.4, 0.6, 0.8, 0.9, 1.0)}),
    Rule(
        "DStreams ratio",
        "0.9/0.3",
        {
            f"{up:g}/{down:g}": dstreams(up, down)
            for up, down in ((0.9, 0.3), (0.9, 0.6), (0.7, 0.3), (0.7, 0.5), (0.5, 0.3))
        },
    ),
    Rule(
        "Glue-like doubling",
        "0.9/0.35",
        {f"{up:g}/{down:g}": doubling(up, down) for up, down in ((0.9, 0.35), (0.7, 0.35), (0.7, 0.2), (0.5, 0.2))},
    ),
    Rule("DS2", "margin 0", {f"margin {margin:g}": ds2(margin) for margin in (0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)}),
    Rule(
        "Flink",
        "0.7, 15 min, 1 h",
        {
            "0.7, 15 min, 1 h": flink(),
            "0.9, 3 min, 5 min": flink(0.9, window_batches=3, stabilise_secs=60, down_secs=300),
            "0.85, 3 min, 5 min": flink(0.85, window_batches=3, stabilise_secs=60, down_secs=300),
            "0.8, 3 min, 5 min": flink(0.8, window_batches=3, stabilise_secs=60, down_secs=300),
            "0.7, 3 min, 5 min": flink(0.7, window_batches=3, stabilise_secs=60, down_secs=300),
            "0.6, 3 min, 5 min": flink(0.6, window_batches=3, stabilise_secs=60, down_secs=300),
            "0.7, 5 min, 1 h": flink(0.7, window_batches=5, stabilise_secs=60),
        },
    ),
)
