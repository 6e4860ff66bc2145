"""Which columns of a Parquet file are compressed: those that become an eighth smaller, the rule of LevelDB and of ZFS.

Ids, hashes and tokens are what a fast codec works on longest, for a few per cent at most, and each reader pays again.
"""

from __future__ import annotations

import pyarrow.parquet as pq

TRIED_ROWS = 1024
LEAST_ROWS = 8 * TRIED_ROWS
"""Of what is written at once; fewer are compressed as they are asked to be, which costs less than a trial."""
_LEAST_BYTES = 4 * 1024
_LEAST_GAIN = 1 / 8


def is_worth_it(plain_bytes: int, compressed_bytes: int) -> bool:
    """Tell from a trial whether a column is to be compressed; so little that it tells nothing is."""
    return plain_bytes < _LEAST_BYTES or compressed_bytes <= plain_bytes * (1 - _LEAST_GAIN)


def codecs(trial: pq.FileMetaData, codec: str) -> dict[str, str]:
    """Return the codec of each column, by its path as Parquet has it.

    Args:
        trial: of a file with rows like those to come, all of it compressed with `codec`.
        codec: as pyarrow names it.
    """
    group = trial.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    return {
        one.path_in_schema: codec if is_worth_it(one.total_uncompressed_size, one.total_compressed_size) else "none"
        for one in columns
    }
