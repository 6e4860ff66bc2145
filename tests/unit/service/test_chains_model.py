"""Random histories of triggers and workflows, beside a model of the reference's rules; and wrong versions of the service.

The service's own operations, controllers and decisions play them. Most do so with a store in memory, some with SQLite.
"""

from dataclasses import replace
from itertools import count

import pytest

from gluepot.core import logging
from gluepot.service.controllers import control, endings, firing
from gluepot.service.decisions import states, triggers, workflows
from gluepot.service.decisions.states import OPEN, State
from gluepot.service.events.batches import Batch
from gluepot.service.operations import triggers as trigger_operations
from gluepot.service.store.database import open_store
from gluepot.service.store.tables import metadata
from tests.unit.service import memory_store
from tests.unit.service.histories import KINDS, History, play
from tests.unit.service.memory_store import MemoryStore

SHORT, SHORT_ON_SQLITE = 300, 10
THOUSANDS, LONG_ON_SQLITE = 100, 2_000
MOST = 3_000
"""In so many histories each wrong version has to be noticed."""


@pytest.fixture(autouse=True)
def _without_logs(_logs_as_in_a_job):
    logging.configure(json=True, level="CRITICAL")


@pytest.fixture
def emptied():
    """Return a function that empties a database on SQLite; making one takes longer than a history."""
    store = open_store("sqlite:///:memory:")

    def again():
        with store.changes() as changes:
            for table in metadata.sorted_tables:
                changes._connection.execute(table.delete())
        return store

    return again


def test_the_service_does_what_the_reference_says():
    play(MemoryStore, range(SHORT))


def test_it_does_so_on_a_database(emptied):
    play(emptied, range(SHORT_ON_SQLITE))


@pytest.mark.long
@pytest.mark.parametrize("thousand", range(THOUSANDS))
def test_it_does_so_in_a_hundred_thousand_histories(thousand):
    play(MemoryStore, range(1_000 * thousand, 1_000 * (thousand + 1)))


@pytest.mark.long
@pytest.mark.parametrize("thousand", range(LONG_ON_SQLITE // 1_000))
def test_it_does_so_in_thousands_of_histories_on_a_database(emptied, thousand):
    play(emptied, range(1_000 * thousand, 1_000 * (thousand + 1)))


def test_the_histories_come_to_all_that_there_is():
    met = set()
    for seed in range(SHORT):
        history = History(MemoryStore(), seed)
        history.play(history.groups())
        model = history.model
        met |= {history.kind, *(run.state for run in model.runs), *(chain.status for chain in model.chains)}
        met |= {word for line in history.log for word in line if isinstance(word, str)}
        met |= {f"carried {bool(chain.carried)}" for chain in model.chains}
        met |= {f"attempt {run.attempt}" for run in model.runs}
        met |= {f"events {chain.properties}" for chain in model.chains}
    assert met >= {*KINDS, "SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "WAITING", "COMPLETED"}
    assert met >= {"killed", "step of the other", "carried True", "attempt 2", "events 3"}
    assert met >= {"ConcurrentRunsExceededException", "IllegalWorkflowStateException", "EntityNotFoundException"}


WRONG = {}


def wrong(version):
    """Note a wrong version of the service, by what it does."""
    WRONG[version.__name__.replace("_", " ")] = version
    return version


@wrong
def a_trigger_fires_again_in_a_chain(patch):
    patch(memory_store.TriggerRows, "note_firing", lambda *_: True)


@wrong
def one_condition_is_enough(patch):
    patch(triggers, "met", lambda predicate, outcomes: right_met({**predicate, "Logical": "ANY"}, outcomes))


right_met = triggers.met


@wrong
def an_attempt_that_failed_counts(patch):
    for module in (triggers, firing):
        patch(module, "settled", lambda run: run.state not in OPEN)


@wrong
def what_was_stopped_is_tried_again(patch):
    def continued(run, now_ms):
        return right_continued(replace(run, state=State.FAILED) if run.state is State.STOPPED else run, now_ms)

    right_continued = states.continued
    patch(endings, "continued", continued)


@wrong
def the_next_attempt_has_a_transaction_of_its_own(patch):
    def end_run(store, run_id, place, end, now_ms, origin):
        with store.changes() as changes:
            if (run := changes.run(run_id)).state not in states.ACTIVE or run.place not in {"", place}:
                return
            changes.change_run(done := states.ended(run, end))
        if (again := states.continued(done, now_ms)) is not None:
            with store.changes() as changes:
                changes.add_run(again)

    patch(control, "end_run", end_run)


@wrong
def an_end_counts_as_followed_before_triggers_have_fired(patch):
    def move_on(store, origin, now_ms):
        with store.changes() as changes:
            ended = changes.runs_to_follow()
            for run in ended:
                changes.mark_followed(run.id)
        with store.changes() as changes:
            for run in ended:
                firing.follow(changes, run, origin, now_ms)
        return right(store, origin, now_ms)

    right = firing.move_on
    patch(control, "move_on", move_on)


@wrong
def a_schedule_goes_on_before_it_has_fired(patch):
    def move_on(store, origin, now_ms):
        with store.changes() as changes:
            due = changes.triggers.due(now_ms)
            for one in due:
                changes.triggers.save(triggers.scheduled(one, now_ms))
        for one in due:
            with store.changes() as changes:
                changes.triggers.save(one)
                firing.fire_by_schedule(changes, one.name, now_ms)
        return right(store, origin, now_ms)

    right = firing.move_on
    patch(control, "move_on", move_on)


@wrong
def times_that_were_missed_are_made_up_for(patch):
    patch(firing, "missed", lambda *_: False)


@wrong
def starting_a_trigger_again_skips_a_time(patch):
    def started(trigger, now_ms):
        return triggers.scheduled(right(trigger, now_ms), now_ms)

    right = triggers.started
    patch(trigger_operations, "started", started)


@wrong
def changing_a_trigger_skips_a_time(patch):
    def redefined(trigger, definition, now_ms):
        return triggers.scheduled(replace(trigger, definition=definition), now_ms)

    patch(trigger_operations, "redefined", redefined)


@wrong
def deleting_a_trigger_forgets_its_firings(patch):
    def delete(self, name):
        self._drop("triggers", name)
        for key in [key for key in self._tables.firings if key[0] == name]:
            self._drop("firings", key)

    patch(memory_store.TriggerRows, "delete", delete)


@wrong
def a_firing_is_known_by_the_number_of_its_first_event(patch):
    def start_by_itself(changes, workflow, now_ms, batch=None):
        first = workflows.first_trigger(changes.triggers.of_workflow(workflow))
        if batch is None or changes.triggers.note_firing(first.name, f"event {batch.events[0].number}", now_ms):
            right(changes, workflow, now_ms, batch)

    right = firing._start_by_itself
    patch(firing, "_start_by_itself", start_by_itself)


@wrong
def all_events_that_wait_are_one_batch(patch):
    def batch_of(*given):
        return (found := right(*given)) and Batch(given[1], found.condition)

    right = firing.batch_of
    patch(firing, "batch_of", batch_of)


@wrong
def only_the_first_event_of_a_batch_is_removed(patch):
    def forget(self, events):
        for one in events[:1]:
            self._drop("waiting", one.number)

    patch(memory_store.EventRows, "forget", forget)


@wrong
def a_stopped_trigger_keeps_its_events(patch):
    patch(firing, "takes_events", lambda _: True)


@wrong
def triggers_do_not_heed_the_limit_of_a_job(patch):
    def triggered(action, definition, active, *rest):
        return right(action, definition, 0, *rest)

    right = triggers.triggered
    patch(firing, "triggered", triggered)


@wrong
def the_last_run_that_waits_starts_first(patch):
    def admitted(waiting, *rest):
        return right(waiting[::-1], *rest)

    right = states.admitted
    patch(control, "admitted", admitted)


def of_run(self, run_id, more):
    found = self._tables.workflow_runs.get(run_id)
    return found and replace(found, triggers=more(found, memory_store.TriggerRows(self._tables)))


@wrong
def a_run_of_a_workflow_has_the_triggers_of_today(patch):
    def run(self, run_id):
        return of_run(self, run_id, lambda found, rows: rows.of_workflow(found.workflow))

    patch(memory_store.WorkflowRows, "run", run)


@wrong
def triggers_outside_fire_for_runs_inside(patch):
    def run(self, run_id):
        return of_run(self, run_id, lambda found, rows: [*found.triggers, *rows.of_workflow("")])

    patch(memory_store.WorkflowRows, "run", run)


@wrong
def a_run_that_is_stopped_is_completed(patch):
    def over(run, now_ms):
        return replace(run, status=workflows.Status.COMPLETED, completed_ms=now_ms)

    patch(firing, "over", over)


@wrong
def a_resumed_run_repeats_only_what_was_named(patch):
    patch(workflows, "downstream", lambda *_: set())


@wrong
def two_places_start_a_run(patch):
    patch(memory_store.MemoryChanges, "take_run", lambda *_: True)


@pytest.mark.parametrize("version", WRONG.values(), ids=WRONG)
def test_a_wrong_version_is_noticed(monkeypatch, version):
    version(monkeypatch.setattr)
    for seed in count():
        assert seed < MOST
        history = History(MemoryStore(), seed)
        try:
            history.play(history.groups())
        except AssertionError:
            print(f"noticed in history {seed}: {history.kind}")
            return
