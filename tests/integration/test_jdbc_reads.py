"""Bookmarked reads of a real PostgreSQL server."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import psycopg
import pytest

from awsglue import DynamicFrame
from gluepot.bookmarks import jobrun
from gluepot.core.errors import CheckpointError, ConfigError, TransientError


def numbered(job, *ids: int) -> None:
    job.sql("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, name text)")
    for n in ids:
        job.sql(f"INSERT INTO orders VALUES ({n}, 'n{n}')")


def test_a_second_run_reads_what_is_new(orders):
    numbered(orders, 1, 2)
    assert orders.run() == [1, 2]
    numbered(orders, 7)
    assert orders.run() == [7]
    assert orders.run() == []


def test_the_database_applies_the_predicate_in_every_task_and_for_the_bookmark(orders):
    numbered(orders, *range(1, 21))
    given = {"pushDownPredicate": "id <= 3 OR name = 'n19' -- late", "hashfield": "name", "hashpartitions": "5"}
    assert orders.run(**given) == [1, 2, 3, 19]
    numbered(orders, 21, 22)
    orders.sql("UPDATE orders SET name = 'n19' WHERE id = 22")
    assert orders.run(**given) == [22]
    assert orders.read("", **given).count() == 5
    with pytest.raises(CheckpointError, match="WHERE id > 1"):
        orders.run(pushDownPredicate="id > 1")
    jobrun.end("the bookmark is of another source")


def test_a_run_that_did_not_commit_is_read_again(orders):
    numbered(orders, 1)
    orders.init()
    assert orders.read().count() == 1
    jobrun.end("the driver died")
    numbered(orders, 2)
    assert orders.run() == [1, 2]


def test_an_input_without_news_keeps_its_columns(orders):
    numbered(orders, 1)
    orders.run()
    orders.init()
    assert orders.read().toDF().columns == ["id", "name"]


def test_descending_keys_go_down(orders):
    numbered(orders, 10, 9)
    options = {"jobBookmarkKeys": ["id"], "jobBookmarkKeysSortOrder": "desc"}
    assert orders.run(**options) == [9, 10]
    numbered(orders, 11, 5)
    assert orders.run(**options) == [5]


def test_a_composite_key_is_compared_column_by_column(orders):
    orders.sql("CREATE TABLE orders (day date, id int, PRIMARY KEY (day, id))")
    orders.sql("INSERT INTO orders VALUES ('2026-01-01', 1), ('2026-01-02', 5)")
    assert orders.run() == [1, 5]
    orders.sql("INSERT INTO orders VALUES ('2026-01-02', 4), ('2026-01-02', 6), ('2026-01-03', 2), ('2026-01-01', 9)")
    assert orders.run() == [2, 6]


def test_a_row_committed_late_is_read_with_an_overlap_window_and_once(orders):
    numbered(orders, 1)
    options = {"jobBookmarkOverlap": "100"}
    with psycopg.connect(orders.url) as late:
        late.execute("INSERT INTO orders VALUES (2, 'late')")
        numbered(orders, 3)
        assert orders.run(**options) == [1, 3]
    numbered(orders, 4)
    assert orders.run(**options) == [2, 4]
    assert orders.run(**options) == []


def test_a_row_that_appears_between_planning_and_reading_is_read_once(orders):
    numbered(orders, 1, 3)
    job = orders.init()
    frame = orders.read(jobBookmarkOverlap="100")
    numbered(orders, 2)
    assert frame.count() == 2
    job.commit()
    assert orders.run(jobBookmarkOverlap="100") == [2]


def test_without_a_window_a_late_row_is_not_read_as_in_glue(orders):
    numbered(orders, 1, 3)
    orders.run()
    numbered(orders, 2, 4)
    assert orders.run() == [4]


def test_rows_that_share_the_key_of_a_late_one_are_read_again_with_it(orders, capsys):
    orders.sql("CREATE TABLE orders (id int, at timestamptz)")
    orders.sql("INSERT INTO orders VALUES (1, '2026-01-01 10:00Z'), (2, '2026-01-01 11:00Z')")
    options = {"jobBookmarkKeys": ["at"], "jobBookmarkOverlap": "1 hour"}
    assert orders.run(**options) == [1, 2]
    orders.sql("INSERT INTO orders VALUES (3, '2026-01-01 11:00Z')")
    assert orders.run(**options) == [2, 3]
    assert '"read_again":1' in capsys.readouterr().err.replace(" ", "")


@pytest.mark.parametrize(
    "options",
    [
        {"hashfield": "name", "hashpartitions": "3"},
        {"hashexpression": "id", "hashpartitions": "4"},
        {"partitionColumn": "id", "lowerBound": "2", "upperBound": "8", "numPartitions": "3"},
    ],
)
def test_a_read_shared_among_tasks_gives_every_row_once(orders, options):
    numbered(orders, *range(-5, 15))
    orders.sql("INSERT INTO orders VALUES (99, NULL)")
    assert orders.run(**options) == [*range(-5, 15), 99]
    numbered(orders, 100)
    assert orders.run(**options) == [100]


def test_a_query_is_read_with_its_own_keys(orders):
    numbered(orders, 1, 2, 3)
    options = {"dbtable": "", "sampleQuery": "SELECT id FROM orders WHERE id <> 2 AND", "jobBookmarkKeys": ["id"]}
    assert orders.run(**options) == [1, 3]
    numbered(orders, 4)
    assert orders.run(**options) == [4]


def test_a_range_of_runs_is_read_again(orders):
    for n in (1, 2, 3):
        numbered(orders, n)
        orders.run()
    limits = {"job_bookmark_from": "jr_1", "job_bookmark_to": "jr_2", "job_bookmark_option": "job-bookmark-pause"}
    assert orders.run(limits) == [2]


def test_types_arrive_as_glue_reads_them(orders):
    orders.sql(
        """CREATE TABLE orders (id int, price numeric(12,2), free numeric, at timestamp, zoned timestamptz, day date,
        doc jsonb, key uuid, raw bytea, tags text[], ok boolean, ratio real, "Odd ""name" text, span interval, net inet)"""
    )
    orders.sql(
        """INSERT INTO orders VALUES (1, 1.50, 1.1234567890123456789, '2026-01-01 10:00', '2026-01-01 10:00+02',
        '2026-01-01', '{"a": 1}', '00000000-0000-0000-0000-000000000001', '\\x01', '{a,b}', true, 0.5, 'x', '1 day',
        '127.0.0.1')"""
    )
    orders.init()
    (row,) = orders.read().toDF().collect()
    assert row.asDict() == {
        "id": 1,
        "price": Decimal("1.50"),
        "free": Decimal("1.123456789012345679"),
        "at": dt.datetime(2026, 1, 1, 10),
        "zoned": dt.datetime(2026, 1, 1, 8),
        "day": dt.date(2026, 1, 1),
        "doc": '{"a": 1}',
        "key": "00000000-0000-0000-0000-000000000001",
        "raw": b"\x01",
        "tags": ["a", "b"],
        "ok": True,
        "ratio": 0.5,
        'Odd "name': "x",
        "span": "P1D",
        "net": "127.0.0.1/32",
    }


def test_names_and_values_that_look_like_sql_are_names_and_values(orders):
    orders.sql("""CREATE TABLE "ord""ers; DROP" ("id'; --" text PRIMARY KEY)""")
    orders.sql("""INSERT INTO "ord""ers; DROP" VALUES ('a'), ('b''; DROP TABLE x; --')""")
    options = {"dbtable": '"ord""ers; DROP"'}
    orders.init()
    job = orders.init()
    assert orders.read(**options).count() == 2
    job.commit()
    orders.sql("""INSERT INTO "ord""ers; DROP" VALUES ('c')""")
    orders.init()
    assert [row[0] for row in orders.read(**options).toDF().collect()] == ["c"]


def test_a_bookmark_of_another_key_is_refused(orders):
    numbered(orders, 1)
    orders.run()
    orders.init()
    with pytest.raises(CheckpointError, match=r"the bookmark belongs to public\.orders by id ascending"):
        orders.read(jobBookmarkKeys=["name"])


def test_a_table_without_a_key_is_read_whole_with_a_warning(orders, capsys):
    orders.sql("CREATE TABLE orders (id int)")
    orders.sql("INSERT INTO orders VALUES (1)")
    assert orders.run() == orders.run() == [1]
    assert "give jobBookmarkKeys" in capsys.readouterr().err


def test_a_misspelt_column_is_named_with_those_there_are(orders):
    numbered(orders, 1)
    orders.init()
    with pytest.raises(ConfigError, match=r"the column 'nam'; public\.orders has id, name\. Did you mean 'name'"):
        orders.read(jobBookmarkKeys=["nam"])


def test_a_missing_table_is_a_sentence(orders):
    orders.init()
    with pytest.raises(ConfigError, match="The table 'orders' is not there"):
        orders.read()


def test_a_server_that_is_away_is_worth_another_try(orders):
    with pytest.raises(TransientError, match="start the server"):
        orders.read(url="jdbc:postgresql://127.0.0.1:9/nothing", user="u", password="hidden")


def test_what_was_read_can_be_written_to_another_table(orders):
    numbered(orders, 1, 2)
    job = orders.init()
    orders.write(DynamicFrame.fromDF(orders.read().toDF(), orders.glue_context, "f"))
    job.commit()
    assert orders.copied() == [1, 2]


def test_a_million_rows_with_a_composite_key_lose_none_to_an_open_transaction(orders):
    orders.sql("CREATE TABLE orders (day date, id bigint, note text, PRIMARY KEY (day, id))")
    fill = "INSERT INTO orders SELECT date '2026-01-01' + (n / 100000)::int, n, md5(n::text) FROM generate_series({}, {}) AS n"
    options = {"jobBookmarkOverlap": "3 days", "hashfield": "id", "hashpartitions": "2"}
    with psycopg.connect(orders.url) as late:
        late.execute(fill.format(800_001, 800_100))
        orders.sql(fill.format(1, 800_000))
        orders.sql(fill.format(800_101, 1_000_000))
        job = orders.init()
        assert orders.read(**options).count() == 999_900
        job.commit()
    orders.sql(fill.format(1_000_001, 1_000_010))
    assert orders.run(**options) == [*range(800_001, 800_101), *range(1_000_001, 1_000_011)]
