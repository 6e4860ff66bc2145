"""What waits until a batch has made all its writes."""

import pytest

from gluepot.engine.writer import TableWriter, Writing


@pytest.fixture
def writer():
    return TableWriter(Writing("query", 7))


def test_actions_run_once_in_order(writer):
    done = []
    for name in ("a", "b"):
        writer.at_end(lambda name=name: done.append(name))
    writer.finish()
    writer.finish()
    assert done == ["a", "b"]


def test_an_action_may_add_another(writer):
    done = []
    writer.at_end(lambda: writer.at_end(lambda: done.append("later")))
    writer.finish()
    assert done == ["later"]


def test_names_tell_checks_of_a_batch_apart_and_are_the_same_in_its_repetition(writer):
    names = [writer.next_name("orders"), writer.next_name("orders"), writer.next_name("other")]
    assert names == ["query/7/orders/1", "query/7/orders/2", "query/7/other/1"]
    writer.begin_attempt()
    assert writer.next_name("orders") == names[0]


def test_a_failed_attempt_leaves_nothing_for_the_next_one(writer):
    done = []
    writer.at_end(lambda: done.append("of the failed attempt"))
    writer.begin_attempt()
    writer.finish()
    assert done == []
