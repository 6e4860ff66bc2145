"""Finds what is wrong with a table from its manifests and a listing, without reading any file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gluepot.commit.compaction import Compaction
from gluepot.commit.intent import Intent
from gluepot.commit.links import missing
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import REJECTS, commit_key, rollups_of_query
from gluepot.connectors.values import CommitKey
from gluepot.tables.coverage import Coverage


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a table.

    Args:
        kind: a short fixed word for programs.
        where: a path below the table, a batch, or a partition of a stream.
        message: one sentence.
    """

    kind: str
    where: str
    message: str


def newest(commits: Iterable[CommitRecord]) -> list[CommitRecord]:
    """Return the last generation of each write.

    Args:
        commits: commits, the generations of each write in ascending order.
    """
    return list({commit.key: commit for commit in commits}.values())


def unfinished_files(commits: Sequence[CommitRecord], intents: Iterable[Intent]) -> set[str]:
    """Return the files that a publication in progress, or one that died, will still publish or remove.

    These are the files that its intent names, and the files of the generation that it replaces.

    Args:
        commits: all generations, those of a write in ascending order.
        intents: intents of publications that have not ended.
    """
    pending = {(intent.key, intent.generation): intent for intent in intents}
    claimed = {path for intent in pending.values() for _, path in intent.files}
    replaced = {
        file.path for commit in commits if (commit.key, commit.generation + 1) in pending for file in commit.files
    }
    return (claimed | replaced) - _paths(newest(commits))


def uncompacted_files(compacted: Iterable[Compaction], begun: Iterable[Compaction]) -> set[str]:
    """Return the files that a compaction in progress, or one that died, will still name or remove.

    Args:
        compacted: compactions of the table.
        begun: compactions whose intents still exist.
    """
    owners = {one.number: one.owner for one in compacted}
    done = [one for one in begun if owners.get(one.number) == one.owner]
    undone = [one for one in begun if owners.get(one.number) != one.owner]
    return {path for one in done for path in one.replaced} | {file.path for one in undone for file in one.files}


def compaction_findings(commits: Iterable[CommitRecord], compacted: Iterable[Compaction]) -> Iterator[Finding]:
    """Yield compactions whose new files have another number of rows than the replaced ones; purges are left out.

    Args:
        commits: all generations.
        compacted: compactions and purges of the table, in order.
    """
    rows = {file.path: file.rows for commit in commits for file in commit.files}
    for one in compacted:
        before, after = sum(rows.get(path, 0) for path in one.replaced), sum(file.rows for file in one.files)
        if before != after and not one.is_purge:
            where = f"compaction {one.number}"
            yield Finding("counts", where, f"{where} replaced files of {before} rows by some of {after}")
        rows |= {file.path: file.rows for file in one.files}


def unnamed_files(
    listing: Iterable[str],
    commits: Sequence[CommitRecord],
    compacted: Sequence[Compaction],
    unfinished: Collection[str],
) -> Iterator[Finding]:
    """Yield files that readers of the folder take for rows or rejected records, although no live manifest names them.

    Readers leave out files and folders whose names begin with `_` or `.`, so these are not reported.
    """
    compacting = {path: one for one in compacted for path in one.replaced}
    live = (_paths(newest(commits)) | {file.path for one in compacted for file in one.files}) - compacting.keys()
    superseded = {file.path: commit for commit in commits for file in commit.files}
    for path in listing:
        if path in live or path in unfinished or _is_hidden(path):
            continue
        if (compaction := compacting.get(path)) and compaction.is_purge:
            yield Finding(
                "purged_file",
                path,
                f"{path} was purged by record {compaction.number} and is there again; readers of the folder find its "
                "rows: remove it",
            )
        elif compaction:
            yield Finding(
                "superseded_file",
                path,
                f"{path} was replaced by compaction {compaction.number}; readers of the folder find its rows twice: "
                "remove it",
            )
        elif commit := superseded.get(path):
            yield Finding(
                "superseded_file",
                path,
                f"{path} belongs to generation {commit.generation} of {words(commit.key)}, which was replaced; readers "
                "of the folder find its rows twice: remove it",
            )
        else:
            yield Finding(
                "unknown_file", path, f"{path} is named by no manifest; readers of the folder take it for data"
            )


def count_findings(commit: CommitRecord) -> Iterator[Finding]:
    """Yield the numbers of a manifest that contradict each other."""
    of = words(commit.key)
    written = commit.rows_put + sum(file.rows for file in commit.files if not file.rejects)
    set_aside = sum(file.rows for file in commit.files if file.rejects)
    rejected = sum(commit.rejected.values())
    if written != commit.rows_out:
        yield Finding("counts", of, f"{of} says {commit.rows_out} rows and its files hold {written}")
    if set_aside != rejected:
        yield Finding("counts", of, f"{of} says {rejected} rejected records and its files hold {set_aside}")
    left_out = commit.rows_dropped + commit.left_out_in_read
    if commit.rows_in != commit.rows_out + rejected + left_out:
        yield Finding(
            "counts",
            of,
            f"{of} read {commit.rows_in} records, wrote {commit.rows_out}, rejected {rejected} and left out {left_out}",
        )


def coverage_findings(covered: Coverage) -> Iterator[Finding]:
    """Yield gaps, with their possible causes, and overlaps."""
    lane = covered.lane
    where = f"{lane.stream} {lane.shard}"
    for gap in covered.gaps:
        yield Finding(
            "gap",
            where,
            f"positions {gap.start} to {gap.end} of {where} (id {lane.stream_id}) are in no batch of {lane.ctx!r}, "
            f"between {words(gap.before)} and {words(gap.after)}: the script wrote nothing from them, they held "
            "transaction markers alone, they expired with failOnDataLoss=false, or a manifest is lost",
        )
    for twice in covered.overlaps:
        yield Finding(
            "overlap",
            where,
            f"positions {twice.start} to {twice.end} of {where} (id {lane.stream_id}) are in {words(twice.before)} "
            f"and again in {words(twice.after)} of {lane.ctx!r}",
        )


def missing_findings(commits: Iterable[CommitRecord], rolled_up: Mapping[CommitKey, CommitRecord]) -> Iterator[Finding]:
    """Yield the missing manifests: those that a later manifest names, or that a rollup contains.

    Args:
        commits: all existing manifests.
        rolled_up: the manifests in rollups, by key.
    """
    known = {one.key: one for one in commits}
    lost = dict(missing(known.values(), lambda _, __: False)) | {key: key for key in rolled_up.keys() - known.keys()}
    for key in sorted(lost):
        where = commit_key(key, 1).removesuffix(".1.json")
        copy = " A rollup has a copy." if key in rolled_up else ""
        yield Finding(
            "lost_manifest",
            words(key),
            f"the manifest {where}.*.json of {words(key)} is gone, although another one names it; restore it.{copy}",
        )


def rollup_findings(commits: Iterable[CommitRecord], rolled_up: Mapping[CommitKey, CommitRecord]) -> Iterator[Finding]:
    """Yield manifests whose copy in a rollup differs; readers of the table see the rollup.

    Args:
        commits: all generations, those of a write in ascending order.
        rolled_up: the manifests in rollups, by key.
    """
    for commit in newest(commits):
        copy = rolled_up.get(commit.key, commit)
        if copy != commit:
            yield Finding(
                "rollup",
                words(commit.key),
                f"the rollup of {words(commit.key)} has generation {copy.generation}, its manifest has"
                f" {commit.generation}; remove the folder {rollups_of_query(commit.key.query_id)}, which holds copies",
            )


def words(key: CommitKey) -> str:
    """Return a phrase that names a write."""
    return f"batch {key.batch_id} of query {key.query_id}"


def _paths(commits: Iterable[CommitRecord]) -> set[str]:
    return {file.path for commit in commits for file in commit.files}


def _is_hidden(path: str) -> bool:
    parts = path.split("/")
    return any(part.startswith(("_", ".")) for part in (parts[1:] if parts[0] == REJECTS else parts))
