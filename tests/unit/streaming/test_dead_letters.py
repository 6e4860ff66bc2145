import duckdb
import pytest

from gluepot.connectors.streams.dead_letters import DeadLetter
from gluepot.connectors.values import OriginalRecord, SourceRange
from gluepot.core.errors import LeaseHeld
from gluepot.streaming.quarantine.dead_letters import DeadLetters


def at(*positions):
    return tuple(SourceRange("kafka", "clicks", "id-1", "0", n, n + 1) for n in positions)


def letters(*positions):
    return [
        DeadLetter(OriginalRecord(b"%d" % n, "clicks", "0", n, 1000 + n, b"k", [("h", None)]), "batch_function", "no")
        for n in positions
    ]


@pytest.fixture
def driver(tmp_path):
    """Make the dead letters as a driver with a token sees them."""
    return lambda token, rejects=None: DeadLetters(str(tmp_path / "checkpoint"), rejects, "query-1", token)


def kept(folder):
    files = [str(path) for path in folder.rglob("*.rejects")]
    if not files:
        return []
    return sorted(row[0] for row in duckdb.sql(f"SELECT raw FROM read_parquet({files!r})").fetchall())


def test_a_batch_that_was_never_searched_has_no_decision(driver):
    assert driver(1).decided(0) == []


def test_what_is_published_is_the_decision_and_is_visible(driver, tmp_path):
    driver(1).publish(7, 1, letters(3, 5), at(3, 5))
    assert driver(1).decided(7) == [at(3, 5)]
    assert kept(tmp_path) == [b"3", b"5"]


def test_publishing_a_round_again_doubles_nothing(driver, tmp_path):
    for _ in range(2):
        driver(1).publish(7, 1, letters(3), at(3))
    assert kept(tmp_path) == [b"3"]


def test_a_round_that_is_taken_back_holds_nothing(driver, tmp_path):
    driver(1).publish(7, 1, letters(3), at(3))
    driver(1).publish(7, 1, (), ())
    assert driver(1).decided(7) == [()]
    assert kept(tmp_path) == []


def test_files_go_to_the_rejects_path_and_the_decision_stays_in_the_checkpoint(driver, tmp_path):
    driver(1, str(tmp_path / "aside")).publish(7, 1, letters(3), at(3))
    assert kept(tmp_path / "aside") == [b"3"]
    assert kept(tmp_path / "checkpoint") == []
    assert driver(2).decided(7) == [at(3)]


def test_a_driver_that_takes_over_keeps_what_was_decided(driver, tmp_path):
    driver(1).publish(7, 1, letters(3), at(3))
    assert driver(2).take_over(7) == [at(3), ()]
    assert driver(3).take_over(7) == [at(3), ()]
    assert kept(tmp_path) == [b"3"]


@pytest.mark.parametrize("decided_before", [True, False])
def test_an_earlier_driver_that_wakes_up_decides_nothing_any_more(driver, tmp_path, decided_before):
    zombie = driver(1)
    if decided_before:
        zombie.publish(7, 1, letters(3), at(3))
    rounds = driver(2).take_over(7)

    for nth in range(1, len(rounds) + 1):
        with pytest.raises(LeaseHeld):
            zombie.publish(7, nth, letters(9), at(9))

    assert driver(2).decided(7) == rounds
    assert b"9" not in kept(tmp_path)


def test_letters_that_cannot_be_read_leave_no_decision_and_no_file(driver, tmp_path):
    def broken():
        yield from letters(3)
        raise OSError("the broker is away")

    with pytest.raises(OSError, match="away"):
        driver(1).publish(7, 1, broken(), at(3, 4))

    assert driver(1).decided(7) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
