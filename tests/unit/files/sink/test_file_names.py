from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.sink.names import published_name, run_prefix
from gluepot.connectors.ports import CommitKey

KEYS = st.builds(CommitKey, st.text(), st.integers(0, 10**7), st.text(max_size=5))


def test_the_name_has_glues_shape():
    assert re.fullmatch(r"run-sink_1-\d{21}-", run_prefix(CommitKey("q", 3, "sink_1"), "sink_1"))


def test_without_a_ctx_the_number_follows_at_once():
    assert re.fullmatch(r"run-\d{21}-", run_prefix(CommitKey("q", 3, "write-0"), ""))


def test_the_number_ends_with_the_batch():
    assert run_prefix(CommitKey("q", 17, ""), "").endswith("000017-")


def test_two_unnamed_writes_of_one_batch_have_different_names():
    assert run_prefix(CommitKey("q", 3, "write-0"), "") != run_prefix(CommitKey("q", 3, "write-1"), "")


@given(KEYS, KEYS)
def test_equal_names_mean_equal_keys(left, right):
    assert (run_prefix(left, "") == run_prefix(right, "")) == (left == right)


@given(KEYS, st.text())
def test_a_name_is_one_plain_path_part(key, ctx):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,140}", run_prefix(key, ctx))


def test_the_first_generation_keeps_its_name():
    assert published_name("day=1.5/a-snappy.parquet", 1, 0) == "day=1.5/a-snappy.parquet"


def test_later_generations_lie_beside_it_under_the_same_suffix():
    assert published_name("day=1.5/a-snappy.parquet", 2, 0) == "day=1.5/a-snappy-g2.parquet"
    assert published_name("a-part-r-00000", 3, 0) == "a-part-r-00000-g3"


def test_files_of_two_drivers_never_share_a_name():
    assert published_name("day=1/a-snappy.parquet", 1, 35) == "day=1/a-snappy-dz.parquet"
    assert published_name("day=1/a-snappy.parquet", 2, 36) == "day=1/a-snappy-g2-d10.parquet"
