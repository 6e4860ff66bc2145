"""Checks a manifest before any of its files becomes visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from gluepot.connectors.values import Manifest, ManifestPart
from gluepot.core.errors import PermanentError


def check(manifest: Manifest) -> None:
    """Make sure that every record is counted exactly once.

    A step such as Filter drops rows on purpose. The task counts these rows, too, so the numbers must add up exactly.

    Raises:
        PermanentError: the check failed. That is a bug in Gluepot, and publishing would make its effect permanent.
    """
    for fault in _faults(manifest):
        key = manifest.key
        raise PermanentError(
            f"batch {key.batch_id} of query {key.query_id} is not published: {fault}; this is a bug, please report it",
        )


def _faults(manifest: Manifest) -> Iterator[str]:
    for part in manifest.parts:
        yield from _faults_of(part)
    finals = Counter((file.rejects, file.final) for part in manifest.parts for file in part.files)
    for (_, final), times in finals.items():
        if times > 1:
            yield f"{times} staged files would become {final}"
    ranges = sorted(one for part in manifest.parts for one in part.ranges)
    for earlier, later in pairwise(ranges):
        same_shard = (earlier.source, earlier.stream, earlier.stream_id, earlier.shard) == (
            later.source,
            later.stream,
            later.stream_id,
            later.shard,
        )
        if same_shard and later.start < earlier.end:
            yield f"two tasks read {later.stream} {later.shard} from {later.start} to {min(earlier.end, later.end)}"


def _faults_of(part: ManifestPart) -> Iterator[str]:
    rejected = sum(part.rejected.values())
    written = part.rows_put + sum(file.rows for file in part.files if not file.rejects)
    set_aside = sum(file.rows for file in part.files if file.rejects)
    if written != part.rows_out:
        yield f"a task says it wrote {part.rows_out} records and its files hold {written}"
    if set_aside != rejected:
        yield f"a task says it rejected {rejected} records and its files hold {set_aside}"
    if part.rows_out + rejected + part.rows_dropped + part.left_out_in_read != part.rows_in:
        yield (
            f"a task read {part.rows_in} records, wrote {part.rows_out}, rejected {rejected}"
            f" and left out {part.rows_dropped + part.left_out_in_read}"
        )
