"""How the schema of a stream's records changed from one batch to the next, in kinds that can be counted."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

ADDED, TYPE = "added", "type"


def schema_changes(before: pa.Schema, after: pa.Schema) -> Counter[str]:
    """Count the columns that are new (`added`) or have another type (`type`); a column that is gone is none.

    Names are not part of the answer: they are the records', and without bound.
    """
    types = {column.name: column.type for column in before}
    changes: Counter[str] = Counter()
    for column in after:
        if column.name not in types:
            changes[ADDED] += 1
        elif column.type != types[column.name]:
            changes[TYPE] += 1
    return changes
