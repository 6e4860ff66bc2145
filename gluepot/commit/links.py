"""The chain of a query's manifests. Each names the batch of the manifest before it, so that gaps are noticed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey


@dataclass(frozen=True, slots=True)
class Links:
    """The newest batches of one query in one table.

    Args:
        by_ctx: for each ctx, the last two batches that were written under it, in order.
    """

    by_ctx: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: Iterable[tuple[str, int]], before: int) -> Links:
        """Return the newest batches of a query before it writes another one.

        Args:
            batches: the ctx and the batch of each of the query's writes in the table.
            before: the batch that the query is about to write.
        """
        links = cls()
        for ctx, batch_id in sorted(batches):
            if batch_id < before:
                links = links.after(ctx, batch_id)
        return links

    def previous(self, ctx: str, batch_id: int) -> int:
        """Return the last batch before `batch_id` that was written under a ctx; -1 if there is none."""
        return max((one for one in self.by_ctx.get(ctx, ()) if one < batch_id), default=-1)

    def after(self, ctx: str, batch_id: int) -> Links:
        """Return the links after a batch was written; later batches have higher ids."""
        last = max(self.by_ctx.get(ctx, ()), default=-1)
        if batch_id <= last:
            return self
        return Links({**self.by_ctx, ctx: (last, batch_id)})


def missing(
    records: Iterable[CommitRecord], is_rolled_up: Callable[[str, int], bool]
) -> Iterator[tuple[CommitKey, CommitKey]]:
    """Yield the keys of missing manifests, each with the key of the later manifest that names it.

    Args:
        records: the newest manifest of each write that is not in a rollup, of any queries.
        is_rolled_up: tells whether a query's manifests of a batch are in a rollup.
    """
    known = list(records)
    there = {one.key for one in known}
    for one in known:
        if one.previous is None or one.previous < 0:
            continue
        before = CommitKey(one.key.query_id, one.previous, one.key.ctx)
        if before not in there and not is_rolled_up(before.query_id, before.batch_id):
            yield before, one.key
