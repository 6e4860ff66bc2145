"""The limits of the service, and back-off."""

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.pacing import BYTES_PER_SEC, READS_PER_SEC, Read, wait_secs
from gluepot.core.backoff import backoff_secs

READS = st.lists(st.builds(Read, st.integers(0, 10 << 20), st.booleans()), min_size=2, max_size=50)


@given(READS)
def test_no_shard_is_read_more_often_or_faster_than_the_service_allows(reads):
    elapsed = sum(wait_secs(read) for read in reads[:-1])

    assert len(reads) - 1 <= elapsed * READS_PER_SEC + 1e-9
    assert sum(read.bytes for read in reads[:-1]) <= elapsed * BYTES_PER_SEC + 1e-3


def test_a_shard_without_news_leaves_most_reads_to_others():
    assert wait_secs(Read(0, at_tip=True)) == 0.5


def test_idle_time_is_kept_where_a_script_asks_for_it():
    assert wait_secs(Read(0, at_tip=False), idle_secs=3.0) == 3.0


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_back_off_is_jittered_over_its_whole_width_and_capped(attempt, chance):
    wait = backoff_secs(attempt, 1.0, 10.0, chance)

    assert 0 <= wait <= 10
    assert wait == chance * min(10.0, 2.0 ** min(attempt - 1, 30))
