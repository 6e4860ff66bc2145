from gluepot.ops.connections import OpenConnections


def with_opened(most, *names):
    connections = OpenConnections[str](most)
    for name in names:
        connections.opened(name)
    return connections


def test_nobody_gives_way_while_there_is_room():
    assert with_opened(2, "a").opened("b") is None


def test_the_connection_that_has_waited_longest_gives_way():
    connections = with_opened(2, "a", "b")
    assert connections.opened("c") == "a"
    assert connections.opened("d") == "b"


def test_a_connection_whose_request_is_being_answered_stays_while_others_wait():
    connections = with_opened(2, "a", "b")
    connections.asked("a")
    assert connections.opened("c") == "b"


def test_a_connection_waits_from_its_last_answer_on():
    connections = with_opened(2, "a", "b")
    connections.asked("a")
    connections.answered("a")
    assert connections.opened("c") == "b"
    assert connections.opened("d") == "a"


def test_where_all_are_being_answered_the_oldest_gives_way():
    connections = with_opened(2, "a", "b")
    connections.asked("b")
    connections.asked("a")
    assert connections.opened("c") == "b"


def test_a_closed_connection_makes_room():
    connections = with_opened(2, "a", "b")
    connections.closed("b")
    assert connections.opened("c") is None


def test_news_of_a_connection_that_has_given_way_is_ignored():
    connections = with_opened(1, "a", "b")
    connections.asked("a")
    connections.answered("a")
    connections.closed("a")
    assert connections.opened("c") == "b"
