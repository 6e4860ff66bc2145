"""The table of goals, and the document with its plots."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.autoscaling.judge import ALL, HELD_OUT, TUNED, Judged
from benchmarks.autoscaling.loads import (
    GOAL_BROKEN_SHARE,
    GOAL_CHANGES_OF_HPA,
    GOAL_OVER_ORACLE,
    GOAL_UNDER_DS2,
    GOAL_UNDER_FLINK,
    HOUR,
    JUDGED_SEEDS,
    SLO_SECS,
    TUNING_SEEDS,
    WINDOW_SECS,
)
from benchmarks.autoscaling.rivals import OURS, RIVALS
from gluepot.bench.svg_chart import Axis, Line, chart

SHIPPED = OURS.published
COLUMNS = 100
NEVER = 1e-4
"""Where the plot shows runs that never broke the SLO."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the table.

    Args:
        what: is measured.
        limit: that it may reach.
        figure: that was measured; None where the rival kept the SLO with no setting.
        percent: figures are shares.
        against: the rival's setting that it was compared with.
    """

    what: str
    limit: float
    figure: float | None
    percent: bool = False
    against: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure is within the limit; it is where no setting of the rival kept the SLO at any cost."""
        return self.figure is None or self.figure <= self.limit

    def cells(self) -> list[str]:
        """Return the row of a Markdown table."""
        show = "{:.2%}".format if self.percent else "{:.2f}".format
        figure = "rival breaks the SLO" if self.figure is None else show(self.figure)
        return [self.what, f"<= {show(self.limit)}", figure, "met" if self.met else "**missed**", self.against]


def goals(judged: Judged, families: Sequence[str]) -> list[Goal]:
    """Return the goals and their figures on these families."""
    ours = judged.summary(OURS.name, SHIPPED, families)
    hpa = judged.summary("HPA", "80 %", families)
    found = [
        Goal("worker-seconds, of the oracle's", GOAL_OVER_ORACLE, ours.cost),
        Goal("time with lag above the SLO", GOAL_BROKEN_SHARE, ours.broken, percent=True),
    ]
    for name, limit in (("DS2", GOAL_UNDER_DS2), ("Flink", GOAL_UNDER_FLINK)):
        rival = judged.cheapest(name, families)
        figure, against = (ours.cost / rival[1].cost, rival[0]) if rival else (None, "")
        found.append(Goal(f"worker-seconds, of {name}'s at equal SLO", limit, figure, against=against))
    changes = ours.changes_per_hour / hpa.changes_per_hour
    broken = f"80 %, which breaks the SLO {hpa.broken:.0%} of the time"
    return [*found, Goal("changes, of HPA's", GOAL_CHANGES_OF_HPA, changes, against=broken)]


def goals_text(judged: Judged) -> str:
    """Return the tables of goals."""
    head = ["goal", "limit", "measured", "", "compared with"]
    parts = []
    for title, families in (("Held-out families", HELD_OUT), ("All families", ALL)):
        rows = [one.cells() for one in goals(judged, families)]
        parts.append(f"**{title}** ({', '.join(families)}), held-out seeds:\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def families_text(judged: Judged) -> str:
    """Return our figures by family."""
    rows = []
    for name in ALL:
        ours, oracle = judged.summary(OURS.name, SHIPPED, [name]), judged.oracle_summary([name])
        rows.append(
            [
                name + (" (held out)" if name in HELD_OUT else ""),
                f"{ours.cost:.2f}",
                f"{ours.broken:.2%}",
                f"{ours.p99_lag_secs:.0f} s",
                f"{ours.changes_per_hour:.1f}",
                f"{oracle.changes_per_hour:.1f}",
                str(ours.reversals),
                f"{ours.settle_steps:.1f}",
            ]
        )
    head = [
        "load",
        "cost/oracle",
        "SLO broken",
        "p99 lag",
        "changes/h",
        "oracle's",
        "reversals",
        "after a jump",
    ]
    return _table(head, rows)


def rivals_text(judged: Judged) -> str:
    """Return every rule as published, and at its cheapest setting that keeps the SLO."""
    rows = []
    for rule in (OURS, *RIVALS):
        published, best = judged.summary(rule.name, rule.published, ALL), judged.cheapest(rule.name, ALL)
        rows.append(
            [
                rule.name,
                rule.published,
                f"{published.cost:.2f}",
                f"{published.broken:.2%}",
                f"{published.changes_per_hour:.1f}",
                best[0] if best else "none keeps the SLO",
                f"{best[1].cost:.2f}" if best else "",
                f"{best[1].changes_per_hour:.1f}" if best else "",
            ]
        )
    return _table(["rule", "published", "cost", "SLO broken", "changes/h", "at equal SLO", "cost", "changes/h"], rows)


def document(judged: Judged, command: str) -> str:
    """Return the report in Markdown, in lines of at most 100 columns."""
    text = f"""# How many workers: the rule against others

`{command}` makes this document; the same figures come out every time. No Spark runs: the stream is simulated, so what
is judged is the rule, not the engine.

## The rule

Batch time for `n` workers is taken as `T(n) = F + b / (n mu)`, with fixed cost `F`, `b` rows, and `mu` rows per second
of one worker, learned by robust regression from the last 60 batches (`streaming/advisor`). With window `W`, target use
`rho`, foreseen rate `lam`, rows `L` that wait beyond one window, rows `D` that pile up until a worker is there, and
catch-up time `C`:

    n = ceil( (lam + L/C + D/C) / (mu (rho - F/W)) )

Nothing changes within 10 % of the target; workers are given back when the highest rate of the last four minutes fits
on fewer. `rho` is 0.97 where the SLO is four windows or more, because a batch that is late now and then breaks nothing
there, and 0.85 otherwise.

## Goals

{goals_text(judged)}

A cost is worker-seconds over the oracle's on the same run, each run weighing the same. "At equal SLO" is the cheapest
setting of the rival that breaks the SLO no more than {GOAL_BROKEN_SHARE:.1%} of the time on the same runs, one setting
for all of them.

{misses_text(judged)}

![cost and broken SLO of every rule and setting](plots/autoscaling-pareto.svg)

## By load

"After a jump" is the number of changes in the hour after the largest jump of the load.

{families_text(judged)}

![workers after a step of four times the load](plots/autoscaling-step.svg)

## Every rule

{rivals_text(judged)}

## How it is measured

- Window {WINDOW_SECS:.0f} s; SLO: no record older than {SLO_SECS:.0f} s when it is committed. A worker comes 60 to
  120 s after it is asked for and is paid for from then on. Batch time has 10 % log-normal noise; 2 % of the batches
  take 1.5 to 3 times as long; the first two after a change take 1.3 and 1.1 times. 64 to 160 partitions, mildly skewed
  (Zipf, exponent up to 0.3). At most 40 workers. `F`, `mu`, skew and base load differ by seed; no rule is told them,
  nor the load's family.
- Every rule decides once, at the end of a batch, from the same observations. The two static ones are told peak and
  mean of the load. KEDA's published threshold of 10 rows means the maximum always, so its knob is given in windows of
  a worker's work. All start with what the first minutes need.
- The oracle is a dynamic programme over the known load, fixed cost and rate; it pays for the delay but has workers in
  time, and corrects itself before each batch. It is not told the noise. Of nine plans with different reserves the
  cheapest that keeps the SLO counts, run by run; a rule has one setting for all runs.
- The rule's constants were chosen on seeds {_numbers(TUNING_SEEDS)} of
  {", ".join(one for one in TUNED if one != "daily")}. Judged are seeds {_numbers(JUDGED_SEEDS)} of all families. The
  held-out families and the goals were committed before the rule was written.
- A day of "weekday and weekend" has six hours, which is harder than a real one.

## What this does not show

Real clusters. Workers of one speed and a plant that follows the rule's own formula, apart from noise, skew and slow
starts, suit a rule that fits that formula; HPA, KEDA and Flink's rule were made for other machines. Whether a real
job follows the formula is for the fit check on recorded runs, which is not here yet.
"""
    return "\n\n".join(_fitted(block) for block in text.strip().split("\n\n")) + "\n"


def _fitted(block: str) -> str:
    """Break the lines of a paragraph or a list where it is wide enough; figures have made them longer or shorter."""
    if block.startswith(("#", "|", "!", "    ")):
        return block
    return "\n".join(_wrapped(one) for one in re.split(r"\n(?=- )", block))


def _wrapped(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        " ".join(text.split()),
        COLUMNS,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def misses_text(judged: Judged) -> str:
    """Say of the goals that are missed what would have been needed."""
    ours, oracle = (judged.summary(OURS.name, SHIPPED, HELD_OUT), judged.oracle_summary(HELD_OUT))
    hpa = judged.summary("HPA", "80 %", HELD_OUT)
    lines = []
    for name, limit in (("DS2", GOAL_UNDER_DS2), ("Flink", GOAL_UNDER_FLINK)):
        best = judged.cheapest(name, HELD_OUT)
        if best and ours.cost > limit * best[1].cost:
            lines.append(
                f"- {name} at `{best[0]}` costs {best[1].cost:.2f} of the oracle and breaks the SLO "
                f"{best[1].broken:.2%} of the time; {limit:.2f} of that is {limit * best[1].cost:.2f} of the oracle. "
                f"Ours costs {ours.cost:.2f}."
            )
    if ours.changes_per_hour > GOAL_CHANGES_OF_HPA * hpa.changes_per_hour:
        lines.append(
            f"- HPA at 80 % changes {hpa.changes_per_hour:.1f} times an hour, ours {ours.changes_per_hour:.1f}, the "
            f"oracle itself {oracle.changes_per_hour:.1f}. HPA at that setting does not keep the SLO."
        )
    return "What the missed goals on the held-out families would have needed:\n\n" + "\n".join(lines) if lines else ""


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)


def pareto_plot(judged: Judged) -> str:
    """Return cost against broken SLO, a line a rule."""
    lines = []
    for rule in (OURS, *RIVALS):
        found = sorted((judged.summary(rule.name, setting, ALL) for setting in rule.settings), key=lambda one: one.cost)
        points = [(one.cost, max(one.broken, NEVER)) for one in found]
        lines.append(Line(rule.name, points, marks=True, thick=rule is OURS))
    across = Axis(
        "worker-seconds, of the oracle's", 0.9, 3.0, [(tick / 10, f"{tick / 10:g}") for tick in range(10, 31, 4)]
    )
    shares = [(NEVER, "never"), *((share, f"{share:.1%}") for share in (0.001, GOAL_BROKEN_SHARE, 0.01, 0.1, 1.0))]
    up = Axis("time with lag above the SLO", NEVER, 1.0, shares, logarithmic=True)
    return chart("Every rule with its knob swept, all loads, held-out seeds", across, up, lines)


def step_plot(judged: Judged) -> str:
    """Return workers over time around a step, ours beside others at equal SLO."""
    index = next(index for index, one in enumerate(judged.worlds) if one.family.name == "step x4")
    world = judged.worlds[index]
    rate = world.rows_per_sec
    step_secs = world.secs / len(rate)
    needed = [(at * step_secs / 60, float(rate[at]) / world.worker_rate) for at in range(0, len(rate), 12)]
    lines = [Line("advisor", _steps(judged.outcomes[OURS.name][SHIPPED][index].trace), thick=True)]
    lines += [Line("load, in workers", needed), Line("oracle", _steps(judged.oracle[index].trace))]
    for name in ("Flink", "DS2", "HPA"):
        best = judged.cheapest(name, ALL)
        if best:
            lines.append(Line(f"{name}, {best[0]}", _steps(judged.outcomes[name][best[0]][index].trace)))
    most = max(workers for line in lines for _, workers in line.points)
    across = Axis(
        "minutes", 0, world.secs / 60, [(minute, str(minute)) for minute in range(0, int(world.secs / 60) + 1, 60)]
    )
    up = Axis("workers asked for", 0, most, [(count, str(count)) for count in range(0, int(most) + 1, 5)])
    return chart(f"Step of four times the load, {world.secs / HOUR:.0f} hours", across, up, lines)


def _steps(trace: Sequence[tuple[float, int, float]]) -> list[tuple[float, float]]:
    """Return the corners of a staircase, in minutes."""
    corners: list[tuple[float, float]] = []
    for at, workers, _ in trace:
        if corners and corners[-1][1] != workers:
            corners.append((at / 60, corners[-1][1]))
        if not corners or corners[-1][1] != workers:
            corners.append((at / 60, float(workers)))
    return [*corners, (trace[-1][0] / 60, float(trace[-1][1]))]


def write(judged: Judged, target: Path, command: str) -> None:
    """Write the document, and its plots into `plots` beside it."""
    plots = target.parent / "plots"
    plots.mkdir(exist_ok=True)
    target.write_text(document(judged, command))
    (plots / "autoscaling-pareto.svg").write_text(pareto_plot(judged))
    (plots / "autoscaling-step.svg").write_text(step_plot(judged))
