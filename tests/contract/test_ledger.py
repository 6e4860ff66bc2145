"""The ledger on every database it can live in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import Change, Ledger, LedgerWrite, Owner, RunStart, VersionMismatch, open_ledger, tables
from gluepot.bookmarks.ledger.edit import Edited, fork, pause, reset, rewind
from gluepot.bookmarks.ledger.lease import Heartbeat, begin_run
from gluepot.bookmarks.ledger.portable import export_job, import_job
from gluepot.core import logging
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, ConfigError, LeaseHeld

HERE = Owner("here", 1)
ELSEWHERE = Owner("elsewhere", 2)
ACTOR = "ada@here"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_000_000.0)


@pytest.fixture
def ledger(url, clock):
    opened = open_ledger(url, clock)
    yield opened
    opened.close()


def begin(ledger: Ledger, run_id: str = "jr_1", option: str = "enable", job: str = "clicks"):
    return ledger.begin(RunStart(job, run_id, option), HERE, None)


def succeed(ledger: Ledger, run_id: str, *, job: str = "clicks", **bodies: str) -> int:
    return ledger.commit(begin(ledger, run_id, job=job), {ctx: Change(body) for ctx, body in bodies.items()})


def heartbeats() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gluepot-job-lease"]


def numbers(ledger: Ledger) -> tuple[int, int, int]:
    job = ledger.job("clicks")
    return job.version, job.run, job.attempt


def test_version_rises_by_two_per_run_and_the_run_number_by_one(ledger):
    succeed(ledger, "jr_1")
    assert numbers(ledger) == (2, 2, 0)
    succeed(ledger, "jr_2")
    assert numbers(ledger) == (4, 3, 0)


def test_an_attempt_counts_only_after_a_failed_one_of_the_same_run(ledger):
    ledger.fail(begin(ledger, "jr_1"), "no room")
    assert numbers(ledger) == (1, 1, 1)
    second = begin(ledger, "jr_1_attempt_1")
    assert (second.job.run, second.job.attempt) == (1, 1)
    ledger.commit(second, {})
    assert numbers(ledger) == (3, 2, 0)


def test_an_attempt_that_died_without_a_word_is_closed_by_the_next(ledger):
    begin(ledger, "jr_1")
    ledger.begin(RunStart("clicks", "jr_2", "enable"), HERE, ledger.lease("clicks"))
    assert [(run.run_id, run.attempt, run.status) for run in ledger.runs("clicks")] == [
        ("jr_2", 1, "running"),
        ("jr_1", 0, "failed"),
    ]


def test_a_state_is_what_all_runs_added(ledger):
    succeed(ledger, "jr_1", source="1", other="x")
    succeed(ledger, "jr_2", source="2")
    assert ledger.state("clicks", "source", 2) == ["1", "2"]
    assert ledger.state("clicks", "source", 1) == ["1"]
    assert ledger.state("clicks", "other", 2) == ["x"]
    assert ledger.contexts("clicks", 2) == ["other", "source"]


def test_a_state_that_extends_nothing_stands_alone(ledger):
    succeed(ledger, "jr_1", source="1")
    ledger.commit(begin(ledger, "jr_2"), {"source": Change("2", extends=False)})
    assert ledger.state("clicks", "source", 2) == ["2"]


def test_every_commit_makes_a_new_state_also_without_news(ledger):
    assert [succeed(ledger, f"jr_{n}") for n in (1, 2)] == [1, 2]


def test_all_attempts_from_one_state_share_it_as_their_base(ledger):
    succeed(ledger, "jr_1")
    first = begin(ledger, "jr_2")
    ledger.fail(first, "no room")
    assert begin(ledger, "jr_3").base == first.base == 1


def test_a_paused_run_saves_nothing(ledger):
    succeed(ledger, "jr_1", source="1")
    paused = begin(ledger, "jr_2", option="pause")
    assert not paused.saves
    assert ledger.commit(paused, {"source": Change("2")}) == 1
    assert ledger.state("clicks", "source", 1) == ["1"]
    assert ledger.job("clicks").run == 2


def test_a_paused_job_saves_nothing_until_it_is_resumed(ledger):
    succeed(ledger, "jr_1", source="1")
    pause(ledger, "clicks", ACTOR, paused=True)
    ledger.commit(begin(ledger, "jr_2"), {"source": Change("2")})
    assert ledger.job("clicks").state == 1
    pause(ledger, "clicks", ACTOR, paused=False)
    assert succeed(ledger, "jr_3", source="3") == 2


def test_a_pause_refuses_the_commit_of_a_run_that_has_begun(ledger):
    run = begin(ledger)
    pause(ledger, "clicks", ACTOR, paused=True)
    assert numbers(ledger) == (2, 1, 0)
    with pytest.raises(VersionMismatch, match=r"Expected version 1 but found version 2"):
        ledger.commit(run, {"source": Change("1")})


def test_a_commit_after_a_reset_is_refused_in_glues_words(ledger):
    succeed(ledger, "jr_1", source="1")
    run = begin(ledger, "jr_2")
    reset(ledger, "clicks", ACTOR)
    with pytest.raises(VersionMismatch, match=r"version mismatch. Expected version 3 but found version 4"):
        ledger.commit(run, {"source": Change("2")})
    assert ledger.state("clicks", "source", ledger.job("clicks").state) == []


def test_a_run_that_was_taken_over_cannot_commit(ledger):
    first = begin(ledger, "jr_1")
    second = ledger.begin(RunStart("clicks", "jr_2", "enable"), ELSEWHERE, ledger.lease("clicks"))
    assert second.token > first.token
    assert not ledger.beat(first)
    with pytest.raises(VersionMismatch):
        ledger.commit(first, {"source": Change("1")})
    ledger.commit(second, {"source": Change("2")})
    assert ledger.state("clicks", "source", 1) == ["2"]


def test_a_second_run_is_refused_while_the_first_gives_signs_of_life(ledger, clock):
    run = begin(ledger)

    class Beating(FakeClock):
        def sleep(self, secs):
            super().sleep(secs)
            ledger.beat(run)

    with pytest.raises(LeaseHeld, match=r"'clicks' is already running: run jr_1, process 1 on here"):
        begin_run(ledger, RunStart("clicks", "jr_2", "enable"), ELSEWHERE, Beating())


def test_a_run_on_another_machine_without_a_sign_of_life_is_taken_over_after_the_lease_time(ledger, clock):
    begin(ledger)
    begun = begin_run(ledger, RunStart("clicks", "jr_2", "enable"), ELSEWHERE, clock, ttl_secs=10)
    assert begun.job.attempt == 1
    assert sum(clock.waits) == pytest.approx(10)


DIES_IN_A_RUN = """
import os, sys
from gluepot.bookmarks import jobrun
from gluepot.core.clock import SystemClock
jobrun.begin("clicks", "jr_1", None, "enable", [], dict(os.environ), SystemClock())
os._exit(1)
"""


def test_a_run_whose_process_is_gone_is_taken_over_at_once(url, ledger, clock, tmp_path):
    environ = {**os.environ, "GLUEPOT_LEDGER": url, "GLUEPOT_STATE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", DIES_IN_A_RUN], env=environ, check=False)
    assert ledger.lease("clicks").run_id == "jr_1"
    begun = jobrun.begin("clicks", "jr_2", None, "enable", [], environ, clock)
    assert clock.waits == []
    assert begun.bookmarks.run.job.attempt == 1
    jobrun.end("the test ended")


def test_a_run_that_ends_while_another_waits_makes_way(ledger):
    run = begin(ledger)

    class Ending(FakeClock):
        def sleep(self, secs):
            super().sleep(secs)
            if len(self.waits) == 1:
                ledger.commit(run, {})

    waiting = Ending()
    assert begin_run(ledger, RunStart("clicks", "jr_2", "enable"), ELSEWHERE, waiting).job.run == 2
    assert len(waiting.waits) == 1


def test_of_many_runs_at_once_exactly_one_begins(ledger):
    def attempt(n: int) -> bool:
        try:
            begin(ledger, f"jr_{n}")
        except LeaseHeld:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_the_heartbeat_renews_the_lease(ledger):
    run = begin(ledger)
    heartbeat = Heartbeat(ledger, run, ttl_secs=0.03)
    (thread,) = heartbeats()
    for _ in range(1000):
        if ledger.lease("clicks").beat > 1:
            break
    heartbeat.stop()
    assert heartbeats() == []
    assert ledger.lease("clicks").beat > 1
    assert thread.daemon, "a script that ends without a commit ends its process"


def test_the_heartbeat_of_a_run_that_was_taken_over_says_so_once_and_ends(ledger):
    run = begin(ledger)
    ledger.begin(RunStart("clicks", "jr_2", "enable"), ELSEWHERE, ledger.lease("clicks"))
    lines = []
    with logging.heard_by(lines.append):
        heartbeat = Heartbeat(ledger, run, ttl_secs=0.003)
        for thread in heartbeats():
            thread.join(10)
        assert heartbeats() == []
        heartbeat.stop()
    assert [(line["event"], line["job"]) for line in lines] == [("job_lease_lost", "clicks")]


def test_a_rewind_restores_an_earlier_state_and_loses_no_version(ledger):
    for n in (1, 2, 3):
        succeed(ledger, f"jr_{n}", source=str(n))
    edited = rewind(ledger, "clicks", ACTOR, to_state=1)
    assert (edited.before, edited.after) == (3, 4)
    assert ledger.state("clicks", "source", 4) == ["1"]
    assert ledger.state("clicks", "source", 3) == ["1", "2", "3"]
    succeed(ledger, "jr_4", source="4")
    assert ledger.state("clicks", "source", 5) == ["1", "4"]
    rewind(ledger, "clicks", ACTOR, to_state=3)
    assert ledger.state("clicks", "source", 6) == ["1", "2", "3"]


def test_a_rewind_to_before_a_context_existed_empties_it(ledger):
    succeed(ledger, "jr_1", first="1")
    succeed(ledger, "jr_2", second="2")
    rewind(ledger, "clicks", ACTOR, to_state=1)
    assert ledger.state("clicks", "second", 3) == []
    assert ledger.state("clicks", "first", 3) == ["1"]


def test_a_rewind_to_the_present_state_changes_no_bookmark(ledger):
    succeed(ledger, "jr_1", source="1")
    succeed(ledger, "jr_2", source="2")
    assert rewind(ledger, "clicks", ACTOR, to_state=2) == Edited("clicks", 2, 3)
    assert ledger.state("clicks", "source", 3) == ["1", "2"]


@pytest.mark.parametrize("state", [-1, 2])
def test_a_rewind_to_a_state_that_never_was_is_refused(ledger, state):
    succeed(ledger, "jr_1", source="1")
    with pytest.raises(ConfigError, match=f"has had the states 0 to 1; {state} is none of them"):
        rewind(ledger, "clicks", ACTOR, to_state=state)


def test_a_reset_of_one_context_leaves_the_others(ledger):
    succeed(ledger, "jr_1", first="1", second="2")
    reset(ledger, "clicks", ACTOR, ctx="first")
    assert ledger.state("clicks", "first", 2) == []
    assert ledger.state("clicks", "second", 2) == ["2"]


def test_a_reset_of_an_unknown_context_names_those_there_are(ledger):
    succeed(ledger, "jr_1", first="1")
    with pytest.raises(ConfigError, match="no bookmark of ctx 'frist'; it has first"):
        reset(ledger, "clicks", ACTOR, ctx="frist")


def test_edits_are_audited(ledger):
    succeed(ledger, "jr_1", source="1")
    reset(ledger, "clicks", ACTOR)
    rewind(ledger, "clicks", ACTOR, to_state=1)
    reset(ledger, "clicks", ACTOR, ctx="source")
    pause(ledger, "clicks", ACTOR, paused=True)
    pause(ledger, "clicks", ACTOR, paused=False)
    succeed(ledger, "jr_2", job="views", source="1")
    reset(ledger, "views", ACTOR)
    entries = [(entry.action, entry.detail, entry.before, entry.after) for entry in ledger.audit("clicks")]
    assert entries == [
        ("resume", "all contexts", 4, 4),
        ("pause", "all contexts", 4, 4),
        ("reset", "ctx source", 3, 4),
        ("rewind", "to state 1", 2, 3),
        ("reset", "all contexts", 1, 2),
    ]
    assert {(entry.actor, entry.at_ms) for entry in ledger.audit("clicks")} == {(ACTOR, 1_000_000_000)}


def test_a_fork_starts_where_the_other_job_stands_and_goes_its_own_way(ledger):
    succeed(ledger, "jr_1", source="1")
    succeed(ledger, "jr_2", source="2")
    fork(ledger, "clicks", ACTOR, "clicks-next")
    succeed(ledger, "jr_3", job="clicks-next", source="3")
    forked = ledger.job("clicks-next")
    assert ledger.state("clicks-next", "source", forked.state) == ["1", "2", "3"]
    assert ledger.state("clicks", "source", 2) == ["1", "2"]
    assert forked.uid != ledger.job("clicks").uid


def test_a_fork_of_a_job_that_has_read_nothing_begins_with_nothing(ledger):
    begin(ledger)
    assert fork(ledger, "clicks", ACTOR, "clicks-next") == Edited("clicks-next", 0, 0)
    assert ledger.job("clicks-next").state == 0


def test_a_fork_to_a_job_that_exists_is_refused(ledger):
    succeed(ledger, "jr_1", source="1")
    succeed(ledger, "jr_1", job="views", source="a")
    with pytest.raises(ConfigError, match="There is a job 'views' already"):
        fork(ledger, "clicks", ACTOR, "views")
    assert ledger.state("views", "source", 1) == ["a"]


def test_a_run_knows_what_it_published(ledger):
    ledger.commit(begin(ledger), {}, [LedgerWrite("sink", "/data/clicks", 10, 2)])
    assert ledger.writes(ledger.run("clicks", "jr_1")) == [LedgerWrite("sink", "/data/clicks", 10, 2)]


def test_runs_are_listed_newest_first_those_of_one_job_or_of_all(ledger, clock):
    ledger.fail(begin(ledger, "jr_1"), "no room")
    clock.sleep(60)
    succeed(ledger, "jr_1")
    succeed(ledger, "jr_1", job="views")
    assert [(run.job, run.attempt, run.status) for run in ledger.runs()] == [
        ("views", 0, "committed"),
        ("clicks", 1, "committed"),
        ("clicks", 0, "failed"),
    ]
    assert [run.job for run in ledger.runs(limit=2)] == ["views", "clicks"]
    newest, oldest = ledger.runs("clicks")
    assert ledger.run("clicks", "jr_1") == newest
    assert (oldest.error, oldest.started_ms, oldest.ended_ms) == ("no room", 1_000_000_000, 1_000_000_000)
    assert (newest.error, newest.started_ms, newest.ended_ms) == (None, 1_000_060_000, 1_000_060_000)


def test_a_run_that_has_ended_cannot_fail_afterwards(ledger):
    run = begin(ledger)
    ledger.commit(run, {})
    ledger.fail(run, "too late")
    assert (ledger.run("clicks", "jr_1").status, numbers(ledger)) == ("committed", (2, 2, 0))


def test_the_contexts_of_a_state_are_those_that_have_a_bookmark_by_then(ledger):
    succeed(ledger, "jr_1", first="1")
    succeed(ledger, "jr_2", second="2")
    succeed(ledger, "jr_3", job="views", third="3")
    assert [ledger.contexts("clicks", at) for at in (0, 1, 2)] == [[], ["first"], ["first", "second"]]


def test_an_unknown_job_is_named(ledger):
    with pytest.raises(ConfigError, match="no job 'nothing'"):
        ledger.job("nothing")


def test_an_export_imports_into_another_ledger_and_goes_on_there(ledger, tmp_path, clock):
    succeed(ledger, "jr_1", source="1")
    rewind(ledger, "clicks", ACTOR, to_state=0)
    ledger.commit(begin(ledger, "jr_2"), {"source": Change("2")}, [LedgerWrite("sink", "/t", 1, 1)])
    other = open_ledger(f"sqlite:///{tmp_path}/other.db", clock)
    succeed(other, "jr_1", job="views", source="1")  # its rows have the same numbers
    rewind(other, "views", ACTOR, to_state=0)
    assert import_job(other, export_job(ledger, "clicks"), ACTOR) == Edited("clicks", 0, 3)
    assert [(one.action, one.before, one.after) for one in other.audit("clicks")] == [
        ("import", 0, 3),
        ("rewind", 1, 2),
    ]
    assert other.job("clicks") == ledger.job("clicks")
    assert other.history("clicks", "source") == ledger.history("clicks", "source")
    assert other.writes(other.run("clicks", "jr_2")) == [LedgerWrite("sink", "/t", 1, 1)]
    succeed(other, "jr_3", source="3")
    assert other.state("clicks", "source", other.job("clicks").state) == ["2", "3"]
    other.close()


def test_an_export_leaves_out_a_run_in_progress_and_keeps_text_as_it_is(ledger, tmp_path, clock):
    succeed(ledger, "jr_1", source="Zürich")
    begin(ledger, "jr_2")
    exported = export_job(ledger, "clicks")
    assert "Zürich" in exported, "people read and compare exports"
    other = open_ledger(f"sqlite:///{tmp_path}/other.db", clock)
    import_job(other, exported, ACTOR)
    assert [(run.run_id, run.status) for run in other.runs("clicks")] == [("jr_1", "committed")]
    other.close()


def test_an_export_of_a_newer_format_is_refused(ledger):
    succeed(ledger, "jr_1", source="1")
    newer = json.dumps({**json.loads(export_job(ledger, "clicks")), "format": 2, "job": {"name": "views", "state": 1}})
    with pytest.raises(ConfigError, match="has format 2, this Gluepot knows 1; use a newer one"):
        import_job(ledger, newer, ACTOR)
    assert [job.name for job in ledger.jobs()] == ["clicks"]


def test_an_import_over_a_job_is_refused(ledger):
    succeed(ledger, "jr_1", source="1")
    with pytest.raises(ConfigError, match="has a job 'clicks' already"):
        import_job(ledger, export_job(ledger, "clicks"), ACTOR)


def test_the_migrations_lead_to_the_declared_tables(ledger, url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from gluepot.bookmarks.ledger.tables import metadata

    with ledger.transaction() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_ledger_of_a_newer_version_is_left_alone(ledger, url, clock):
    with ledger.transaction() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(CheckpointError, match="version 9999"):
        open_ledger(url, clock)


def test_several_processes_may_make_the_tables_at_once(url, clock):
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: open_ledger(url, clock), range(4)))
    assert [ledger.jobs() for ledger in opened] == [[]] * 4
    for ledger in opened:
        ledger.close()


def test_what_a_run_announces_is_known_to_its_next_attempt_and_gone_with_its_commit(ledger):
    run = begin(ledger)
    ledger.announce(run, "a")
    ledger.announce(run, "b")
    ledger.fail(run, "it died")
    run = begin(ledger)
    assert ledger.announced(run) == ["a", "b"]
    assert ledger.announced(begin(ledger, job="another")) == []
    ledger.commit(run, {})
    assert ledger.announced(begin(ledger)) == []


def test_a_commit_forgets_only_what_its_own_job_has_announced(ledger):
    run, other = begin(ledger), begin(ledger, job="another")
    ledger.announce(run, "a")
    ledger.announce(other, "b")
    ledger.commit(run, {})
    assert ledger.announced(other) == ["b"]
    with ledger.transaction() as connection:
        assert connection.execute(select(tables.announced.c.write)).scalars().all() == ["b"]


def test_what_a_failed_attempt_announced_is_still_known_after_a_paused_run(ledger):
    run = begin(ledger)
    ledger.announce(run, "a")
    ledger.fail(run, "it died")
    ledger.commit(begin(ledger, "jr_2", option="pause"), {})
    assert ledger.announced(begin(ledger, "jr_3")) == ["a"]


def test_a_run_that_was_taken_over_announces_nothing(ledger):
    run = begin(ledger)
    ledger.begin(RunStart("clicks", "jr_2", "enable"), HERE, ledger.lease("clicks"))
    with pytest.raises(VersionMismatch):
        ledger.announce(run, "a")


def test_a_mirrored_stream_has_versions_and_the_run_still_commits(ledger):
    run = begin(ledger)
    ledger.mirror(run, "stream", "1")
    ledger.mirror(run, "stream", "2")
    assert ledger.commit(run, {"source0": Change("a")}) == 3
    assert [(change.body, change.cause, change.parent) for change in ledger.history("clicks", "stream")] == [
        ("2", "stream", None),
        ("1", "stream", None),
    ]
    assert ledger.state("clicks", "stream", 1) == ["1"]


def test_a_run_that_lost_its_lease_mirrors_no_more(ledger):
    first = begin(ledger)
    ledger.begin(RunStart("clicks", "jr_2", "enable"), ELSEWHERE, ledger.lease("clicks"))
    with pytest.raises(VersionMismatch):
        ledger.mirror(first, "stream", "1")
    assert ledger.history("clicks", "stream") == []


def test_what_a_person_changes_begins_a_new_first_attempt(ledger):
    succeed(ledger, "jr_1", source="1")
    ledger.fail(begin(ledger, "jr_2"), "lost")
    ledger.fail(begin(ledger, "jr_3"), "lost")
    assert ledger.job("clicks").attempt > 0
    reset(ledger, "clicks", ACTOR)
    assert ledger.job("clicks").attempt == 0


def test_a_fork_is_audited_as_the_beginning_of_its_job(ledger):
    succeed(ledger, "jr_1", source="1")
    assert fork(ledger, "clicks", ACTOR, "clicks-next") == Edited("clicks-next", 0, 1)
    assert [(one.action, one.before, one.after) for one in ledger.audit("clicks-next")] == [("fork", 0, 1)]


def test_a_text_that_is_no_export_is_refused(ledger):
    succeed(ledger, "jr_1", source="1")
    text = export_job(ledger, "clicks")
    with pytest.raises(ConfigError, match="not an export of a job"):
        import_job(ledger, "[]", ACTOR)
    with pytest.raises(ConfigError, match="not an export of a job"):
        import_job(ledger, text[:-9], ACTOR)


@pytest.mark.parametrize(
    "damage",
    [
        lambda plain: plain["job"].pop("uid"),
        lambda plain: plain["runs"][0].pop("id"),
        lambda plain: plain["runs"][0].pop("status"),
        lambda plain: plain["runs"].clear(),
        lambda plain: plain["bookmarks"][0].update(colour="red"),
        lambda plain: plain["audit"].append(7),
        lambda plain: plain["bookmarks"].extend(plain["bookmarks"]),
    ],
    ids=["no uid", "no id", "no status", "no runs", "unknown field", "no entry", "twice"],
)
def test_half_an_export_is_refused_and_leaves_nothing(ledger, tmp_path, clock, damage):
    ledger.commit(begin(ledger), {"source": Change("1")}, [LedgerWrite("sink", "/t", 1, 1)])
    plain = json.loads(export_job(ledger, "clicks"))
    damage(plain)
    other = open_ledger(f"sqlite:///{tmp_path}/other.db", clock)
    with pytest.raises(ConfigError, match="not an export of a job"):
        import_job(other, json.dumps(plain), ACTOR)
    assert other.jobs() == []
    other.close()
