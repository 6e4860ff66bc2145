"""The last lines of a run: what was done, where it is, and how to look at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gluepot.core.datasets import Dataset
from gluepot.core.plural import counted
from gluepot.job.written import Written, add
from gluepot.streaming.side_tasks import side_task

if TYPE_CHECKING:  # most runs end before they need these
    from gluepot.engine.account import Account
    from gluepot.engine.write_totals import Output, Rejected
    from gluepot.streaming.progress import BatchStats


@dataclass(frozen=True, slots=True)
class QueryTotals:
    """What one query has done in this run.

    Args:
        batches: committed ones.
        records: records read.
        rejected: records that were diverted.
        misfits: values that became null because they are not of the declared type.
    """

    batches: int = 0
    records: int = 0
    rejected: int = 0
    misfits: int = 0


@dataclass(slots=True)
class Summary:
    """Adds up the batches of a run's queries, and its writes outside of streams.

    Args:
        queries: by name.
        written: by folder or table.
        rejected: the number of rejected records of all, by reason.
        rejects_in: how many of them are in files, by the folder to look into.
        account: the balances of all batches and of the writes outside of streams.
        nulled: values that became null in writes outside of streams, because they are not of the declared type.
    """

    queries: dict[str, QueryTotals] = field(default_factory=dict)
    written: dict[Dataset, Written] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    rejects_in: Counter[str] = field(default_factory=Counter)
    account: Account | None = None
    nulled: int = 0

    @side_task("summary")
    def update(self, stats: BatchStats) -> None:
        """Add a committed batch."""
        before = self.queries.get(stats.query, QueryTotals())
        self.queries[stats.query] = replace(
            before,
            batches=before.batches + 1,
            records=before.records + stats.rows_in,
            rejected=before.rejected + sum(stats.rejected.values()),
            misfits=before.misfits + sum(stats.misfits.values()),
        )
        add(self.written, stats.outputs)
        self.account = stats.account if self.account is None else self.account + stats.account
        self.rejected.update(stats.rejected)
        for file in stats.written:
            if file.rejects:
                self.rejects_in[file.root] += file.rows

    def add(self, outputs: Iterable[Output], rejected: Rejected, account: Account, nulled: int = 0) -> None:
        """Add what was read, written, rejected and made null outside of streams."""
        self.nulled += nulled
        self.account = account if self.account is None else self.account + account
        add(self.written, outputs)
        self.rejected.update(rejected.by_reason)
        self.rejects_in.update(rejected.by_folder)

    def values(self, secs: float) -> dict[str, Any]:
        """Return all as plain values, for the log."""
        return {
            "secs": round(secs, 1),
            "queries": {
                name: {"batches": one.batches, "records": one.records, "rejected": one.rejected}
                for name, one in self.queries.items()
            },
            "written": [
                {"where": url_of(dataset), "rows": one.records, "files": one.files}
                for dataset, one in sorted(self.written.items())
            ],
            "rejected": dict(self.rejected),
            "rejects_in": dict(self.rejects_in),
            "values_nulled": self.nulled + sum(one.misfits for one in self.queries.values()),
            "account": None if self.account is None else self.account.to_plain(),
        }


def lines(secs: float, summary: Summary) -> Sequence[str]:
    """Return the lines for a person. Pure.

    Args:
        secs: how long the run took.
        summary: what the run did.
    """
    found = []
    for name, one in summary.queries.items():
        rejected = f", {one.rejected:,} of them rejected" if one.rejected else ""
        found.append(f"{name}: {counted(one.batches, 'batch', 'batches')}, {one.records:,} records read{rejected}.")
        if one.misfits:
            became = f"{counted(one.misfits, 'value')} became null because they do not match the declared type"
            found.append(f"{name}: {became}; the log names the fields.")
    for dataset, target in sorted(summary.written.items()):
        where = url_of(dataset)
        if target.files:
            files = counted(target.files, "file")
            found.append(
                f"{where}: {target.records:,} rows in {files}; list the files with `gluepot table files {where}`."
            )
        else:
            found.append(f"{where}: {target.records:,} rows.")
        if target.untyped:
            became = f"{counted(target.untyped, 'value')} without a type, such as an empty list, became null"
            found.append(f"{where}: {became}; the log names the fields.")
    if summary.nulled:
        became = f"{counted(summary.nulled, 'value')} became null because they do not match the declared type"
        found.append(f"{became}; the log names the fields.")
    found += [] if summary.account is None else summary.account.lines()
    return [*found, *_rejected(summary.rejected, summary.rejects_in), f"Done in {secs:,.0f} s."]


def _rejected(by_reason: Mapping[str, int], by_folder: Mapping[str, int]) -> Sequence[str]:
    total, in_files = sum(by_reason.values()), sum(by_folder.values())
    if not total:
        return []
    reasons = ", ".join(f"{reason} {records:,}" for reason, records in sorted(by_reason.items()))
    found = [f"{counted(total, 'record')} rejected and kept ({reasons})."]
    found += [
        f"{counted(records, 'record')} in {folder}; list them with `gluepot dlq list {folder}`."
        for folder, records in sorted(by_folder.items())
    ]
    if in_files < total:
        found.append(f"{counted(total - in_files, 'record')} in the table gluepot_rejects of the database.")
    return found


def url_of(dataset: Dataset) -> str:
    """Return a dataset as its reader would write it."""
    return dataset.name if dataset.namespace == "file" else f"{dataset.namespace}/{dataset.name}"
