"""`gluepot bookmarks` over a table's bookmark."""

from __future__ import annotations

import json

import pytest

from gluepot.cli.bookmarks import app
from gluepot.core.errors import ConfigError


def said(capsys, *command: str):
    capsys.readouterr()
    app([*command], result_action="return_value")
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def read_twice(orders):
    orders.sql("CREATE TABLE orders (id bigint PRIMARY KEY)")
    for n in (1, 5):
        orders.sql(f"INSERT INTO orders VALUES ({n})")
        orders.run(jobBookmarkOverlap="10", password="hush")
    return orders


def test_a_tables_bookmark_is_shown_with_its_place(read_twice, capsys):
    entry = said(capsys, "get", "orders", "--output", "json")
    assert json.loads(entry["JobBookmark"])["source0"]["position"] == "id = 5"
    assert json.loads(entry["JobBookmark"])["source0"]["paths"] == ["public.orders"]
    history = said(capsys, "history", "orders", "--output", "json")
    assert [one["position"] for one in history] == ["id = 5", "id = 1"]


def test_the_next_run_is_explained_with_new_and_late_rows(read_twice, capsys):
    read_twice.sql("INSERT INTO orders VALUES (3), (8), (9)")
    explained = said(capsys, "explain", "orders", "--ctx", "source0", "--output", "json")
    assert explained == {
        "counts": {"new": 2, "late": 1, "read again": 0},
        "table": "public.orders",
        "after": "5",
        "upto": "9",
    }
    assert read_twice.run(jobBookmarkOverlap="10") == [3, 8, 9]


def test_two_states_differ_by_where_they_stand(read_twice, capsys):
    found = said(capsys, "diff", "orders", "--ctx", "source0", "--from", "1", "--output", "json")
    assert found == [{"after": "id = 1", "upto": "id = 5"}]


def test_a_rewound_table_is_read_again_from_there_and_a_reset_one_from_the_start(read_twice, capsys):
    app(["rewind", "orders", "--to-run", "jr_1", "--yes"], result_action="return_value")
    assert read_twice.run(jobBookmarkOverlap="10") == [5]
    app(["reset", "orders", "--yes"], result_action="return_value")
    explained = said(capsys, "explain", "orders", "--ctx", "source0", "--output", "json")
    assert explained["counts"] == {"new": 2, "late": 0, "read again": 0}
    assert read_twice.run(jobBookmarkOverlap="10") == [1, 5]


def test_the_ledger_keeps_no_password(read_twice, tmp_path):
    written = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert b"orders" in written
    assert b"hush" not in written


def test_a_ctx_that_read_nothing_is_named_with_those_that_did(read_twice, capsys):
    with pytest.raises(ConfigError, match="its bookmarks are source0"):
        app(["explain", "orders", "--ctx", "source9"], result_action="return_value", exit_on_error=False)
