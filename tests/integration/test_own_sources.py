"""A source of ten lines of a user's, under the rule of bookmarks."""

from __future__ import annotations

import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.run_writer import WRITERS
from gluepot.core.errors import ConfigError
from gluepot.sources import read_on

API = [{"id": n, "name": f"n{n}"} for n in range(1, 8)]


def pages(cursor):
    """A REST API that gives three records a call."""
    start = cursor or 0
    page = API[start : start + 3]
    return page, start + len(page)


def copy(orders, source=pages, *, dies: bool = False) -> None:
    job = orders.init()
    orders.write(read_on(orders.glue_context, source, "api0"))
    if dies:
        jobrun.end("the driver died")
    else:
        job.commit()


def test_each_run_reads_on_where_the_last_one_ended(orders):
    for _ in range(4):
        copy(orders)
    assert orders.copied() == [1, 2, 3, 4, 5, 6, 7]


def test_its_records_are_in_the_account_of_the_run(orders):
    orders.init()
    orders.write(read_on(orders.glue_context, pages, "api of the account"))
    read = WRITERS.account().sources["api of the account"]
    assert (read.records, read.delivered) == (3, 3)


def test_a_run_that_wrote_and_did_not_commit_has_not_moved_the_cursor_and_doubles_nothing(orders):
    copy(orders, dies=True)
    copy(orders)
    copy(orders)
    assert orders.copied() == [1, 2, 3, 4, 5, 6]


def test_other_records_for_the_same_cursor_replace_what_the_dead_run_wrote(orders):
    copy(orders, lambda _: ([{"id": 8}, {"id": 9}], "x"), dies=True)
    copy(orders, lambda _: ([{"id": 9}], "x"))
    assert orders.copied() == [9]


def test_a_sequence_of_file_names_is_a_cursor(orders, tmp_path):
    def files(last):
        new = [path for path in sorted(tmp_path.glob("in-*")) if last is None or path.name > last]
        return [{"id": int(line)} for path in new for line in path.read_text().split()], new[-1].name if new else last

    (tmp_path / "in-001").write_text("1 2")
    copy(orders, files)
    (tmp_path / "in-002").write_text("3")
    copy(orders, files)
    copy(orders, files)
    assert orders.copied() == [1, 2, 3]


def test_a_cursor_that_json_cannot_hold_is_refused(orders):
    orders.init()
    with pytest.raises(ConfigError, match="is a object that JSON cannot hold"):
        read_on(orders.glue_context, lambda _: ([], object()), "api0")
