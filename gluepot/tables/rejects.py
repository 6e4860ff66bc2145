"""Finds the rejected records of a table's batches that lie outside of the table, see `gluepot.engine.rejects`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.commit.record import CommitRecord
from gluepot.connectors.streams.rejects import SUFFIX
from gluepot.core.storage import Storage, open_storage
from gluepot.engine.rejects import folder_of


def rejects_elsewhere(records: Iterable[CommitRecord]) -> Mapping[str, int]:
    """Return the number of rejected records outside of a table, by the URL of their folder.

    Args:
        records: the live manifests of the table.
    """
    folders = {(one.rejects_root, folder_of(one.key.query_id, one.key.batch_id)) for one in records if one.rejects_root}
    found: Counter[str] = Counter()
    for root, folder in sorted(folders):
        found[root] += rejects_in(open_storage(root), folder)
    return {root: records for root, records in found.items() if records}


def rejects_in(storage: Storage, folder: str) -> int:
    """Return the number of rejected records in the files of a folder."""
    names = (name for name in storage.list(folder) if name.endswith(SUFFIX))
    return sum(pq.read_metadata(pa.BufferReader(storage.get(name))).num_rows for name in names)
