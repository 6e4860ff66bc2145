"""Versions of the product that are wrong on purpose; the simulator has to notice each of them.

The numbers are those of defects that Gluepot once had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from gluepot.commit import QueryWrites
from gluepot.commit.decide import Skip, Write
from gluepot.commit.record import CommitRecord
from gluepot.connectors.kafka.task_reader import KafkaTaskReader
from gluepot.connectors.values import CommitKey, Manifest, write_label
from gluepot.core.checkpoint import Checkpoint
from gluepot.engine.writer import TableWriter
from gluepot.streaming.micro_batch import scopes
from gluepot.streaming.query.run import Query

start: Any = import_module("gluepot.streaming.checkpoints.start")
lease: Any = import_module("gluepot.streaming.checkpoints.lease")
rewind: Any = import_module("gluepot.streaming.checkpoints.rewind")
publish: Any = import_module("gluepot.commit.publish")  # the package has a function of that name
compact: Any = import_module("gluepot.tables.compact")
kafka: Any = import_module("gluepot.connectors.kafka.broker")
losses: Any = import_module("gluepot.connectors.kafka.losses")
purging: Any = import_module("gluepot.tables.purging")


def defect_1_writes_counted_over_all_targets() -> None:
    defect_3_nothing_is_taken_back()

    def next_write(self: Any, place: str, transformation_ctx: str) -> Manifest:
        self._writes["", transformation_ctx] += 1
        return upcoming(self, "", transformation_ctx)

    def upcoming(self: Any, place: str, transformation_ctx: str) -> Manifest:
        label = write_label(transformation_ctx, self._writes["", transformation_ctx])
        return Manifest(CommitKey(self.by.query_id, self.by.batch_id, label), (), self.given.ranges, "", self.by.token)

    TableWriter.next_write = next_write  # type: ignore[method-assign]
    TableWriter.upcoming = upcoming  # type: ignore[method-assign]


def defect_2_threads_do_not_see_the_batch() -> None:
    scopes.current = scopes._scope.get  # type: ignore[assignment]
    scopes._install = lambda: None


def defect_3_nothing_is_taken_back() -> None:
    QueryWrites.settle = lambda self: None  # type: ignore[method-assign]


def defect_4_failures_forgotten_before_the_commit() -> None:
    right = Query._judge_finished

    def judged(self: Any) -> None:
        if self._run.finished is not None:
            self._run.failures = 0
        right(self)

    Query._judge_finished = judged  # type: ignore[method-assign]


def defect_5_own_generation_not_sealed() -> None:
    def settled(target: Any, _: Manifest, record: CommitRecord, superseded: CommitRecord | None) -> None:
        intent = publish._begun(target, record)
        if intent is not None:
            publish._end(target, intent, None, None)

    publish._settle_own = settled


def defect_6_topic_not_confirmed() -> None:
    KafkaTaskReader.confirm = lambda self, load: None  # type: ignore[method-assign]


def defect_7_replaced_query_not_settled() -> None:
    def own(self: Any, target: Any, place: str) -> None:
        publish.recover(target, self.query_id, self._token, place)

    QueryWrites._recover = own  # type: ignore[method-assign]


def defect_8_damaged_files_are_compacted() -> None:
    compact._compared = lambda storage, files: (list(files), [])


def defect_9_purge_leaves_the_manifests() -> None:
    purging._recorded = lambda storage, purge: True


def skip_by_id_alone() -> None:
    right = publish.decide
    publish.decide = lambda manifest, newest: Skip(newest) if newest else right(manifest, newest)


def no_intent() -> None:
    publish._announce = lambda target, record: True


def manifest_before_files() -> None:
    move, create = publish._move, publish._create

    def moved(target: Any, manifest: Manifest, generation: int) -> None:
        create(target, CommitRecord.of(manifest, generation))
        move(target, manifest, generation)

    publish._create, publish._move = lambda target, record: record, moved


def token_not_compared() -> None:
    def by_input(manifest: Manifest, newest: CommitRecord | None) -> Any:
        if newest is None:
            return Write(CommitRecord.of(manifest, 1), None)
        if newest.input == CommitRecord.of(manifest, 1).input and newest.work == manifest.work:
            return Skip(newest)
        return Write(CommitRecord.of(manifest, newest.generation + 1), newest)

    publish.decide = by_input


def manifest_overwritten() -> None:
    def created(target: Any, record: CommitRecord) -> CommitRecord:
        target.table.put(publish.commit_key(record.key, record.generation), record.to_bytes())
        return record

    publish._create = created


def equal_input_is_skipped_whatever_the_work() -> None:
    right = publish.decide

    def by_input(manifest: Manifest, newest: CommitRecord | None) -> Any:
        return right(manifest if newest is None else replace(manifest, work=newest.work), newest)

    publish.decide = by_input


def nothing_recovered() -> None:
    QueryWrites._recover = lambda self, target, place: None  # type: ignore[method-assign]


def planned_batches_not_flushed() -> None:
    Checkpoint.keep_planned = lambda self, batch_id: None  # type: ignore[method-assign]


def power_cuts_not_mended() -> None:
    start.after_power_cut = lambda snapshot: []


def late_commits_not_set_aside() -> None:
    start.late_commit = lambda snapshot, repeats: []


def lease_without_tokens() -> None:
    lease.next_owner = lambda last, host, pid, now, nonce, *, locked: lease.Owner(
        1 + (last.number if last else 0), 1, host, pid, nonce, locked
    )


def unfinished_batches_not_dropped() -> None:
    rewind.take_back = lambda storage, batch, token, tables: None
    rewind.confirm_ends = lambda found: None


def drivers_not_fenced_by_a_rewind() -> None:
    rewind.fence_off = lambda storage, batch, token: None


def every_broker_believed_at_once() -> None:
    losses.SURE_SECS = 0.0


def silent_leader_taken_for_an_empty_partition() -> None:
    every_broker_believed_at_once()
    kafka.told = lambda at, offset: offset


VERSIONS: Mapping[str, Callable[[], None]] = {
    one.__name__: one
    for one in (
        defect_1_writes_counted_over_all_targets,
        defect_2_threads_do_not_see_the_batch,
        defect_3_nothing_is_taken_back,
        defect_4_failures_forgotten_before_the_commit,
        defect_5_own_generation_not_sealed,
        defect_6_topic_not_confirmed,
        defect_7_replaced_query_not_settled,
        defect_8_damaged_files_are_compacted,
        defect_9_purge_leaves_the_manifests,
        skip_by_id_alone,
        no_intent,
        manifest_before_files,
        token_not_compared,
        manifest_overwritten,
        equal_input_is_skipped_whatever_the_work,
        nothing_recovered,
        planned_batches_not_flushed,
        power_cuts_not_mended,
        late_commits_not_set_aside,
        lease_without_tokens,
        unfinished_batches_not_dropped,
        drivers_not_fenced_by_a_rewind,
        every_broker_believed_at_once,
        silent_leader_taken_for_an_empty_partition,
    )
}
