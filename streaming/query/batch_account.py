"""The account of records of one micro-batch. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.engine.account import Account, Reading
from gluepot.engine.write_totals import WriteTotals


def batch_account(stream: str, records: int, totals: WriteTotals, read: Mapping[str, Reading]) -> Account:
    """Return the account of a batch.

    Args:
        stream: the stream's name.
        records: the number of records in the batch, including dead letters.
        totals: of the batch's writes.
        read: counts from our tasks, by source. If Spark has read the stream, it is missing here, and the delivered
            records are computed as those that were neither rejected nor left out. If Spark has read it first, as for
            `limit` or a filter, our tasks have seen only some of the records; the script got the others, too.
    """
    sources = dict(read)
    if stream not in sources:
        rest = records - totals.rows_aside
        rejected = min(rest, totals.rejected.total() - totals.writes.refused)
        sources[stream] = Reading(rest, rest - rejected - totals.left_out, rejected, totals.left_out)
    unseen = max(0, records - totals.rows_aside - sources[stream].records)
    sources[stream] += Reading(unseen, unseen)
    sources[stream] += Reading(totals.rows_aside, rejected=totals.rows_aside)
    return Account(sources, unseen=unseen) + totals.account
