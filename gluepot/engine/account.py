"""The account of records: what a batch or run has read, and what became of it. Pure.

There are two balances. For each source: read = delivered + rejected + left out. For all writes together: arrived =
written + refused + skipped, which an earlier attempt has written. The script may filter, join or aggregate in between,
so `delivered` and `arrived` can differ. Records that failed in a transform arrive, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from gluepot.core.plural import counted


class SourceName(NamedTuple):
    """The name of one read of a source.

    Args:
        scope: the batch, or the run, that reads it.
        number: distinguishes the reads of a scope.
        label: what the user knows the source by.
    """

    scope: str
    number: int
    label: str


@dataclass(frozen=True, order=True, slots=True)
class Reading:
    """What was read of a source.

    Args:
        records: records read.
        delivered: how many of them became rows.
        rejected: how many could not be read as rows, and are kept.
        left_out: how many could not be read as rows, and are left out because of `--on-malformed=drop`.
        size_bytes: size of the payloads.
        kept: how many of the rejected records this reading stores in files; a `count()` stores none.
    """

    records: int = 0
    delivered: int = 0
    rejected: int = 0
    left_out: int = 0
    size_bytes: int = 0
    kept: int = 0

    def __add__(self, other: Reading) -> Reading:
        return Reading(
            self.records + other.records,
            self.delivered + other.delivered,
            self.rejected + other.rejected,
            self.left_out + other.left_out,
            self.size_bytes + other.size_bytes,
            self.kept + other.kept,
        )

    @property
    def is_balanced(self) -> bool:
        """Whether all records are accounted for."""
        return self.records == self.delivered + self.rejected + self.left_out


@dataclass(frozen=True, slots=True)
class Writes:
    """What all writes together have done with their rows.

    Args:
        arrived: rows that came to a write, and records that failed in a transform before it.
        written: rows written.
        refused: rows and records that were not written, and are kept.
        skipped: rows that an earlier attempt has written, so that they were not written again.
    """

    arrived: int = 0
    written: int = 0
    refused: int = 0
    skipped: int = 0

    def __add__(self, other: Writes) -> Writes:
        return Writes(
            self.arrived + other.arrived,
            self.written + other.written,
            self.refused + other.refused,
            self.skipped + other.skipped,
        )

    @property
    def is_balanced(self) -> bool:
        """Whether all rows are accounted for."""
        return self.arrived == self.written + self.refused + self.skipped


@dataclass(frozen=True, slots=True)
class Account:
    """Both balances of a batch or run.

    Args:
        sources: what was read, by the name of the source.
        writes: what was written.
        by_spark: the lake tables to which Spark has appended rows, which are in no balance.
        unseen: how many of the delivered records our tasks have not seen, because Spark took a part only, as `limit`
            does.
    """

    sources: Mapping[str, Reading] = field(default_factory=dict)
    writes: Writes = Writes()
    by_spark: tuple[str, ...] = ()
    unseen: int = 0

    def __add__(self, other: Account) -> Account:
        sources = dict(self.sources)
        for name, reading in other.sources.items():
            sources[name] = sources.get(name, Reading()) + reading
        by_spark = tuple(dict.fromkeys((*self.by_spark, *other.by_spark)))
        return Account(sources, self.writes + other.writes, by_spark, self.unseen + other.unseen)

    @property
    def read(self) -> Reading:
        """What was read of all sources."""
        return sum(self.sources.values(), Reading())

    def imbalances(self) -> Iterator[str]:
        """Yield a sentence for each balance that does not hold, which is a fault of Gluepot."""
        for name, reading in self.sources.items():
            if not reading.is_balanced:
                yield f"{name}: {_of_reading(reading)} do not add up"
        if not self.writes.is_balanced:
            yield f"writes: {_of_writes(self.writes)} do not add up"

    def lines(self) -> Iterator[str]:
        """Yield the balances for a person."""
        for name, reading in self.sources.items():
            yield f"{name}: {_of_reading(reading)}."
        if self.writes.arrived:
            yield f"Writes: {_of_writes(self.writes)}."
        for table in self.by_spark:
            yield f"{table}: Spark appended rows that are not counted here; the table's snapshots have their number."

    def to_plain(self) -> dict[str, Any]:
        """Return the account as values that JSON has."""
        return {
            "sources": {
                name: {
                    "read": one.records,
                    "delivered": one.delivered,
                    "rejected": one.rejected,
                    "left_out": one.left_out,
                }
                for name, one in self.sources.items()
            },
            "writes": asdict(self.writes),
            **({"by_spark": list(self.by_spark)} if self.by_spark else {}),
            **({"unseen": self.unseen} if self.unseen else {}),
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Account:
        """Return the account that `to_plain` made these values of."""
        sources = {
            name: Reading(one["read"], one["delivered"], one["rejected"], one["left_out"])
            for name, one in plain["sources"].items()
        }
        return cls(sources, Writes(**plain["writes"]), tuple(plain.get("by_spark", ())), plain.get("unseen", 0))


def _of_reading(reading: Reading) -> str:
    parts = [f"{reading.delivered:,} delivered"]
    parts += [f"{reading.rejected:,} rejected and kept"] if reading.rejected else []
    parts += [f"{reading.left_out:,} left out because they are malformed"] if reading.left_out else []
    return f"{counted(reading.records, 'record')} read = {' + '.join(parts)}"


def _of_writes(writes: Writes) -> str:
    parts = [f"{writes.written:,} written"]
    parts += [f"{writes.refused:,} refused and kept"] if writes.refused else []
    parts += [f"{writes.skipped:,} written by an earlier attempt"] if writes.skipped else []
    return f"{counted(writes.arrived, 'row')} arrived = {' + '.join(parts)}"
