"""What a run has written to each folder or table, added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gluepot.core.datasets import Dataset

if TYPE_CHECKING:  # it loads pyarrow, and this module is imported before Spark's JVM starts
    from gluepot.engine.write_totals import Output


@dataclass(frozen=True, slots=True)
class Written:
    """What was written to one folder or table.

    Args:
        records: records.
        size_bytes: size of the files.
        files: published files; 0 where the target is no folder of files.
        untyped: values that became null because nothing says their type.
    """

    records: int = 0
    size_bytes: int = 0
    files: int = 0
    untyped: int = 0

    def since(self, before: Written) -> Written:
        """Return what was added since an earlier moment."""
        return Written(
            self.records - before.records,
            self.size_bytes - before.size_bytes,
            self.files - before.files,
            self.untyped - before.untyped,
        )


def add(totals: dict[Dataset, Written], outputs: Iterable[Output]) -> None:
    """Add what writes have published to the totals of their folders and tables."""
    for one in outputs:
        before = totals.get(one.dataset, Written())
        totals[one.dataset] = Written(
            before.records + one.rows,
            before.size_bytes + one.size_bytes,
            before.files + one.files,
            before.untyped + one.untyped,
        )
