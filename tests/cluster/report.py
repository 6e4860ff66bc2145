"""What is kept of runs, as tables for people; every number comes from their histories, which are judged anew.

python -m tests.cluster.report docs/reliability/cluster.md build/cluster/*.jsonl.gz
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.history import read
from tests.cluster.judge import Judgement, judge
from tests.crash.report import items, table, wrapped, write_into

BEGIN = "<!-- results: written by `make cluster`, not by hand -->"
DID = dict.fromkeys(("Seed", "Minutes", "Faults", "Starts", "Takeovers", "Batches", "Records"), "---:")
FOUND = dict.fromkeys(("Seed", "Lost", "Doubled", "Invented", "Looks", "Progress after"), "---:")
MESSAGE_COLUMNS = 300


def summary(found: Judgement) -> list[str]:
    """Lines on one run, for whoever looks on."""
    done = ", ".join(f"{what} {many}" for what, many in sorted(found.nemesis.items()))
    wrong = f"lost {found.lost}, doubled {found.doubled}, invented {found.invented}"
    starts = f"{found.starts} starts, {found.refused} refused, {found.ended} ended later, {found.takeovers} takeovers"
    return [
        f"  {found.sent} records in {found.batches} batches; {wrong}; {found.looks} looks",
        f"  {starts}; {done}",
        f"  progress after {_secs(found)}",
        *(f"  FAULT {fault}" for fault in found.faults),
    ]


def as_markdown(judged: Sequence[Judgement]) -> str:
    """The tables of all runs, by their seeds."""
    if not judged:
        return "There are no runs.\n"
    runs = sorted(judged, key=lambda one: (str(one.run["began"]), one.run["seed"]))
    minutes = sum(one.run["minutes"] for one in runs)
    wrong = [f"Seed {one.run['seed']}: {fault}" for one in runs for fault in one.faults]
    nemesis = sum((one.nemesis for one in runs), Counter[str]())
    parts = [
        wrapped(
            f"Runs: {len(runs)}, begun from {runs[0].run['began']} to {runs[-1].run['began']}, with {minutes:g} minutes of "
            f"faults in all; {sum(one.right for one in runs)} of them without anything wrong. Records: "
            f"{sum(one.sent for one in runs)}, of which {sum(one.lost for one in runs)} were lost, "
            f"{sum(one.doubled for one in runs)} doubled and {sum(one.invented for one in runs)} invented. "
            f"{', '.join(_versions(runs))}."
        ),
        table(DID, [_did(one) for one in runs]),
        table(FOUND, [_found(one) for one in runs]),
        table({"Fault": "---", "Times": "---:"}, sorted(nemesis.items())),
        *_messages(runs),
        *(["What was wrong:", items(wrong)] if wrong else []),
    ]
    return "\n\n".join(parts) + "\n"


def _did(one: Judgement) -> tuple[object, ...]:
    did = (sum(one.nemesis.values()), one.starts, one.takeovers, one.batches, one.sent)
    return (one.run["seed"], f"{one.run['minutes']:g}", *did)


def _found(one: Judgement) -> tuple[object, ...]:
    return (one.run["seed"], one.lost, one.doubled, one.invented, one.looks, _secs(one))


def _secs(one: Judgement) -> str:
    return "never" if one.progress_secs is None else f"{one.progress_secs:.0f} s"


def _versions(runs: Sequence[Judgement]) -> list[str]:
    """Of what ran; where runs differ, all of them."""
    names = runs[0].run["versions"]
    return [f"{name} {' and '.join(sorted({one.run['versions'][name] for one in runs}))}" for name in names]


def _messages(runs: Sequence[Judgement]) -> list[str]:
    """What drivers said that ended by themselves."""
    said = sum((one.messages for one in runs), Counter[str]())
    if not said:
        return []
    short = [f"{'once' if many == 1 else f'{many} times'}: {_plain(text)}" for text, many in said.most_common()]
    return ["What drivers said that ended by themselves, with `N` for each number:", items(short)]


def _plain(text: str) -> str:
    cut = text if len(text) <= MESSAGE_COLUMNS else f"{text[:MESSAGE_COLUMNS]}..."
    return f"`{cut.replace('`', chr(39))}`"


def write_page(document: Path, histories: Sequence[Path]) -> None:
    """Put the tables between the marks of a page."""
    write_into(document, as_markdown([judge(read(path)) for path in histories]), begin=BEGIN)


if __name__ == "__main__":
    page, *given = map(Path, sys.argv[1:])
    write_page(page, given)
    sys.exit(0)
