"""The index of log streams and their text, on SQLite and PostgreSQL."""

import pytest
from sqlalchemy import text

from gluepot.service.context import Service
from gluepot.service.decisions.log_streams import OUTPUT, LogStream, Window
from gluepot.service.decisions.states import Run, State
from gluepot.service.operations import LOG_OPERATIONS
from gluepot.service.store.database import open_store
from gluepot.service.store.log_chunks import Chunk
from tests.unit.service.world import NOON, World

GROUP = "/aws-glue/jobs/output"
NOON_MS = round(NOON * 1000)
QUERY = "SELECT name FROM service_log_streams WHERE log_group = '/aws-glue/jobs/output' AND number >= 0"


@pytest.fixture
def world(tmp_path, url):
    return World(tmp_path, NOON, url)


def ended(number, at_ms):
    times = {"created_ms": at_ms, "first_ms": at_ms, "last_ms": at_ms + 5, "written_ms": at_ms, "carried_ms": at_ms}
    return LogStream(GROUP, number, f"jr_{number:04}", f"jr_{number:04}", "here", **times, size=9, is_open=False)


def test_a_range_of_times_selects_streams_and_open_ones(world):
    streams = [ended(n, 100 * n) for n in range(1, 1001)]
    streams[2] = LogStream(**{name: getattr(streams[2], name) for name in LogStream.__slots__} | {"is_open": True})
    with world.store.changes() as changes:
        changes.logs.save(streams, set())
        found = changes.logs.in_range(GROUP, Window(50_003, 50_201), 0, 10)
        assert [one.number for one in found] == [3, 500, 501, 502]
        assert [one.number for one in changes.logs.in_range(GROUP, Window(), 990, 5)] == [990, 991, 992, 993, 994]
        named = changes.logs.by_name(GROUP, "jr_09", "jr_0909", 2, descending=False)
        assert [one.name for one in named] == ["jr_0910", "jr_0911"]
        newest = changes.logs.by_time(GROUP, (99_900, "jr_0999"), 2, descending=True)
        assert [one.number for one in newest] == [998, 997]


def test_selections_read_an_index_and_not_the_table(world):
    with world.store.changes() as changes:
        if changes.is_shared:
            pytest.skip("PostgreSQL reads small tables whole; it has the same indexes")
        for condition, index in (
            (
                "AND (is_open OR (last_ms >= 5 AND first_ms < 9)) ORDER BY number LIMIT 9",
                "service_log_streams_by_range",
            ),
            ("AND name >= 'a' AND name < 'b' ORDER BY name LIMIT 9", "sqlite_autoindex_service_log_streams_2"),
            ("ORDER BY written_ms DESC, name DESC LIMIT 9", "service_log_streams_by_time"),
        ):
            query = QUERY if "number LIMIT" in condition else QUERY.replace("AND number >= 0", "")
            plan = changes._connection.execute(text(f"EXPLAIN QUERY PLAN {query} {condition}")).all()
            assert len(plan) == 1, plan
            assert f"INDEX {index} " in plan[0][-1]


def test_text_joins_the_last_chunk_until_it_is_full_and_is_not_added_twice(world):
    with world.store.changes() as changes:
        for begin in range(0, 600_000, 100_000):
            for _ in range(2):
                changes.log_chunks.add(GROUP, 1, Chunk(begin, begin + 100_000, 0, b"x" * 100_000))
        chunks = changes.log_chunks.read(GROUP, 1, 0)
        assert [(one.begin, one.end, len(one.content)) for one in chunks] == [
            (0, 300_000, 300_000),
            (300_000, 600_000, 300_000),
        ]
        assert [one.begin for one in changes.log_chunks.read(GROUP, 1, 300_000)] == [300_000]
        assert changes.log_chunks.tail(GROUP, 1, None, 10) == 300_000
        assert changes.log_chunks.tail(GROUP, 1, 300_000, 10) == 0
        assert changes.log_chunks.tail(GROUP, 1, None, 1_000_000) == 0


def test_another_place_reads_the_logs_of_a_run_while_it_runs_and_after_it(world, tmp_path, url):
    if not url.startswith("postgresql"):
        pytest.skip("services share no SQLite file")
    with world.store.changes() as changes:
        changes.add_run(Run(0, "jr_1", "daily", State.RUNNING, {}, started_ms=NOON_MS))
        changes.take_run("jr_1", "here")
        changes._connection.execute(text("UPDATE service_runs SET place = 'here'"))
    folder = world.service.run_folder("jr_1")
    folder.mkdir()
    other = Service(
        open_store(url),
        world.clock,
        lambda: None,
        lambda one: tmp_path / "other" / one,
        {},
        "0" * 12,
        "us-east-1",
        "there",
    )

    def read():
        assert world.service.logs.catch_up() is None
        answer = LOG_OPERATIONS["FilterLogEvents"](other, {"logGroupName": GROUP})
        tail = LOG_OPERATIONS["GetLogEvents"](other, {"logGroupName": GROUP, "logStreamName": "jr_1", "limit": 1})
        return "".join(one["message"] for one in answer["events"]), tail["events"][-1]["message"]

    with (folder / OUTPUT).open("ab", buffering=0) as file:
        file.write(b"a\nb\nhal")
        assert read() == ("ab", "b")
        file.write(b"f\nlast")
        assert read() == ("abhalf", "half")
    with world.store.changes() as changes:
        changes._connection.execute(text("UPDATE service_runs SET state = 'SUCCEEDED'"))
    assert read() == ("abhalflast", "last")
    (folder / OUTPUT).unlink()
    assert read() == ("abhalflast", "last")
    with world.store.changes() as changes:
        changes.delete_runs(["jr_1"])
        assert changes.log_chunks.read(GROUP, 1, 0) == []
