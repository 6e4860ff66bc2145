"""The chain of a query's manifests. Each names the batch of the one before it, so one that is gone is missed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey


@dataclass(frozen=True, slots=True)
class Links:
    """The newest batches of one query in one table.

    Args:
        by_ctx: the last two batches that were written under a ctx, in order.
    """

    by_ctx: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: Iterable[tuple[str, int]], before: int) -> Links:
        """Return what a query goes on from.

        Args:
            batches: the ctx and the batch of its writes in the table.
            before: the batch that the query is about to write.
        """
        links = cls()
        for ctx, batch_id in sorted(batches):
            if batch_id < before:
                links = links.after(ctx, batch_id)
        return links

    def previous(self, ctx: str, batch_id: int) -> int:
        """Return the last batch before one that was written under a ctx; -1 for none."""
        return max((one for one in self.by_ctx.get(ctx, ()) if one < batch_id), default=-1)

    def after(self, ctx: str, batch_id: int) -> Links:
        """Return what is known once a batch was written; no batch comes before it any more."""
        _, last = self.by_ctx.get(ctx, (-1, -1))
        if batch_id <= last:
            return self
        return Links({**self.by_ctx, ctx: (last, batch_id)})


def missing(
    records: Iterable[CommitRecord], is_rolled_up: Callable[[str, int], bool]
) -> Iterator[tuple[CommitKey, CommitKey]]:
    """Yield the keys of manifests that are gone although a later one names them, each with the later one's key.

    Args:
        records: the newest manifest of each write that no rollup holds, of any queries.
        is_rolled_up: whether a rollup holds what a query published of a batch.
    """
    known = list(records)
    there = {one.key for one in known}
    for one in known:
        if one.previous is None or one.previous < 0:
            continue
        before = CommitKey(one.key.query_id, one.previous, one.key.ctx)
        if before not in there and not is_rolled_up(before.query_id, before.batch_id):
            yield before, one.key
