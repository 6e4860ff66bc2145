from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn
from gluepot.connectors.jdbc.plan import hash_cuts, plan, plan_range, range_cuts, require_finite
from gluepot.connectors.jdbc.state import JdbcState, state_of
from gluepot.core.errors import CheckpointError, ConfigError
from tests.unit.jdbc.sqlite_facts import DAY_AND_ID, SqliteFacts, empty

KEY = Key(DAY_AND_ID)
BY_ID = Key(DAY_AND_ID[1:])


def saved(made) -> JdbcState:
    """The state after a plan's commit, as the ledger gives it back."""
    return state_of([made.state({}).to_body()])


def test_the_first_run_reads_all_rows_that_have_a_key():
    facts = SqliteFacts()
    facts.insert((1, 1), (None, 2), (2, None), (3, 3))
    assert facts.read(plan(facts, "t", KEY, None, None)) == [(1, 1), (3, 3)]


def test_an_empty_table_is_nothing_to_read_and_nothing_to_remember():
    made = plan(SqliteFacts(), "t", KEY, None, "5")
    assert made.is_idle
    assert made.state({}) is None


def test_a_run_without_news_leaves_the_bookmark():
    facts = SqliteFacts()
    facts.insert((1, 1))
    state = saved(plan(facts, "t", KEY, None, None))
    assert plan(facts, "t", KEY, state, None).state({}) is None


def test_rows_after_planning_are_for_the_next_run():
    facts = SqliteFacts()
    facts.insert((1, 1))
    first = plan(facts, "t", KEY, None, None)
    facts.insert((1, 2))
    assert facts.read(first) == [(1, 1)]
    assert facts.read(plan(facts, "t", KEY, saved(first), None)) == [(1, 2)]


def test_a_window_begins_where_that_run_saw_it_begin():
    facts = SqliteFacts()
    facts.insert((0, 10), (0, 100))
    state = saved(plan(facts, "t", BY_ID, None, "20"))
    facts.insert((0, 50), (0, 90))
    later = plan(facts, "t", BY_ID, state, "1000")
    assert facts.read(later) == [(0, 90)]


def test_a_state_without_a_window_knows_of_no_late_rows():
    facts = SqliteFacts()
    facts.insert((0, 10), (0, 100))
    state = saved(plan(facts, "t", BY_ID, None, None))
    facts.insert((0, 90))
    assert plan(facts, "t", BY_ID, state, "1000").is_idle


def test_input_is_told_apart_by_the_number_of_its_rows():
    facts = SqliteFacts()
    facts.insert((0, 1), (0, 3))
    before = plan(facts, "t", BY_ID, None, None)
    facts.insert((0, 2))
    assert plan(facts, "t", BY_ID, None, None).digest != before.digest


def test_a_range_is_what_lies_between_two_states():
    facts = SqliteFacts()
    states = []
    for n in (1, 2, 3):
        facts.insert((0, n))
        states.append(saved(plan(facts, "t", BY_ID, states[-1] if states else None, None)))
    assert facts.read(plan_range(facts, "t", BY_ID, states[0], states[1])) == [(0, 2)]
    assert facts.read(plan_range(facts, "t", BY_ID, None, states[1])) == [(0, 1), (0, 2)]
    assert plan_range(facts, "t", BY_ID, states[1], states[1]).is_idle


def test_a_state_of_another_table_is_refused():
    facts = SqliteFacts()
    facts.insert((0, 1))
    with pytest.raises(
        CheckpointError, match="the bookmark belongs to t by id ascending, the script reads u by id ascending"
    ):
        plan(facts, "u", BY_ID, saved(plan(facts, "t", BY_ID, None, None)), None)


def test_an_overlap_that_is_no_distance_is_refused():
    facts = SqliteFacts()
    facts.insert((0, 1))
    with pytest.raises(ConfigError, match="An overlap of '5 minutes' before id = 1 cannot be reckoned"):
        plan(facts, "t", BY_ID, None, "5 minutes")


rows = st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 12)), max_size=12)
keys = st.builds(Key, st.sampled_from([DAY_AND_ID, DAY_AND_ID[1:], DAY_AND_ID[:1]]), st.booleans())


@given(key=keys, batches=st.lists(rows, max_size=6))
def test_rows_beyond_the_mark_are_each_read_once_and_none_is_lost(key, batches):
    facts, state, got, wanted = SqliteFacts(), None, [], []
    place = len(DAY_AND_ID) - len(key.columns) if key.columns == DAY_AND_ID[1:] else 0
    last = None
    for batch in batches:
        facts.insert(*batch)
        mine = [row[place : place + len(key.columns)] for row in batch]
        beyond = [m for m in mine if last is None or (m < last if key.descending else m > last)]
        wanted += [row for row, m in zip(batch, mine, strict=True) if m in beyond]
        made = plan(facts, "t", key, state, None)
        got += facts.read(made)
        if (now := made.state({})) is not None:
            state = state_of([now.to_body()])
            last = tuple(map(int, state.last))
    assert sorted(got) == sorted(wanted)


@given(
    descending=st.booleans(), batches=st.lists(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 30))), max_size=6)
)
def test_with_a_window_that_is_long_enough_every_row_is_read_once_however_late(descending, batches):
    facts, state, got, known = SqliteFacts(), None, [], set()
    key = Key(DAY_AND_ID, descending)
    for batch in batches:
        facts.insert(*(batch - known))
        known |= batch
        made = plan(facts, "t", key, state, "100")
        got += facts.read(made)
        if (now := made.state({})) is not None:
            state = state_of([now.to_body()])
    assert sorted(got) == sorted(known)


@given(rows=rows, partitions=st.integers(1, 5), bounds=st.tuples(st.integers(-5, 15), st.integers(-5, 15)))
def test_tasks_share_the_rows_without_gap_or_overlap(rows, partitions, bounds):
    facts = SqliteFacts()
    facts.insert(*rows, (7, None))
    made = plan(facts, "t", Key(DAY_AND_ID[:1]), None, None)
    shares = [hash_cuts("id", partitions, "({0} % {1})", whole=True), range_cuts("id", *sorted(bounds), partitions)]
    for cuts in shares:
        read = [
            row
            for where in made.conditions(['"day"'], cuts)
            for row in facts._rows(
                f"SELECT day, id FROM t WHERE {where.render(lambda _, b: f'CAST(? AS {b.type})')}", where
            )
        ]
        assert sorted(read, key=str) == sorted([*rows, (7, None)], key=str)


@given(
    numbers=st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60)),
    partitions=st.integers(1, 5),
)
def test_fractions_and_large_numbers_belong_to_exactly_one_task(numbers, partitions):
    connection = empty()
    connection.create_function("remainder", 2, lambda value, by: None if value is None else math.fmod(value, by))
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, nth) for nth, n in enumerate(numbers)])
    cuts = hash_cuts("day", partitions, "remainder({0}, {1})", whole=False)
    wheres = [where.render(str) for where in cuts] or ["1 = 1"]
    read = [nth for where in wheres for (nth,) in connection.execute(f"SELECT id FROM t WHERE {where}")]
    assert sorted(read) == [*range(len(numbers))]


def test_a_number_without_a_remainder_belongs_to_the_last_task():
    # SQLite takes NaN for null, so this is a text, which it finds larger than each number, as PostgreSQL does with NaN.
    connection = empty()
    connection.execute("INSERT INTO t VALUES ('NaN', 1)")
    connection.create_function("remainder", 2, lambda value, _: value)
    cuts = [where.render(str) for where in hash_cuts("day", 3, "remainder({0}, {1})", whole=False)]
    assert [connection.execute(f"SELECT count(*) FROM t WHERE {one}").fetchone()[0] for one in cuts] == [0, 0, 1]


@pytest.mark.parametrize("text", ["infinity", "-infinity", "NaN"])
@pytest.mark.parametrize("kind", ["timestamptz", "date", "numeric", "float8"])
def test_a_bookmark_does_not_reach_a_value_after_which_nothing_is_new(text, kind):
    family = {"numeric": Family.NUMBER, "date": Family.DATE, "timestamptz": Family.TIMESTAMP}.get(kind, Family.OTHER)
    key = Key((KeyColumn("at", kind, family),))
    with pytest.raises(ConfigError, match=f"The bookmark key at of t has the value '{text}'"):
        require_finite("t", key, (text,))
    require_finite("t", Key((KeyColumn("name", "text", Family.OTHER),)), (text,))
