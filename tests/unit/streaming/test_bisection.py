import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.values import SourceRange
from gluepot.streaming.quarantine.bisection import TooMany, find_guilty


def offsets(start: int, end: int, shard: str = "0") -> SourceRange:
    return SourceRange("kafka", "clicks", "id-1", shard, start, end)


def search(suspects, fails, limit=1000):
    """Run the search with a function over (shard, position) sets; return its answer and the number of tries."""
    steps, tries = find_guilty(suspects, limit), 0
    try:
        part = next(steps)
        while True:
            tries += 1
            held = {(one.shard, at) for one in part for at in range(one.start, one.end)}
            part = steps.send("no" if fails(held) else None)
    except StopIteration as end:
        return end.value, tries


def found(answer):
    return [(one.at.shard, one.at.start) for one in answer]


@given(st.sets(st.tuples(st.sampled_from("01"), st.integers(0, 63)), min_size=1))
def test_every_record_that_fails_alone_is_found_and_no_other(bad):
    answer, _ = search([offsets(0, 64), offsets(0, 64, "1")], lambda held: bool(held & bad))
    assert set(found(answer)) == bad


@pytest.mark.parametrize("at", [0, 1, 77_777, 99_999])
def test_one_record_among_many_takes_two_tries_for_each_halving_at_most(at):
    answer, tries = search([offsets(0, 100_000)], lambda held: ("0", at) in held)
    assert found(answer) == [("0", at)]
    assert tries <= 2 * math.ceil(math.log2(100_000)) + 1


def test_what_the_function_raised_goes_with_the_record():
    steps = find_guilty([offsets(0, 2)], 10)
    assert next(steps) == (offsets(0, 1),)
    assert steps.send(None) == (offsets(1, 2),)
    assert steps.send("ValueError: no price") == (offsets(1, 2),)
    with pytest.raises(StopIteration) as end:
        steps.send("ValueError: no price")
    assert [one.message for one in end.value.value] == ["ValueError: no price"]


@given(st.integers(0, 200))
def test_a_failure_that_does_not_come_again_blames_no_innocent_record(nth):
    """The machine fails once, at the n-th try."""
    tries = iter(range(10_000))
    answer, _ = search([offsets(0, 64)], lambda held: next(tries) == nth or ("0", 9) in held)
    assert set(found(answer)) <= {("0", 9)}


def test_a_single_record_is_tried_again_before_it_is_blamed():
    assert search([offsets(5, 6)], lambda held: False) == ((), 1)


def test_records_that_fail_only_together_are_not_guilty():
    answer, _ = search([offsets(0, 64)], lambda held: {("0", 3), ("0", 50)} <= held)
    assert answer == ()


def test_a_fault_of_everything_is_given_up_without_trying_every_record():
    answer, tries = search([offsets(0, 1_000_000)], lambda held: True, limit=1000)
    assert answer == TooMany(1001)
    assert tries <= 4000


@pytest.mark.parametrize(("bad", "answer"), [(3, 3), (4, None)])
def test_as_many_as_the_limit_may_be_guilty_and_no_more(bad, answer):
    outcome, _ = search([offsets(0, 512)], lambda held: any(at % 100 == 7 and at < bad * 100 for _, at in held), 3)
    assert isinstance(outcome, TooMany) if answer is None else len(outcome) == answer
