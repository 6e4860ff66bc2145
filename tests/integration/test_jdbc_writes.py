"""Writes to tables of a real PostgreSQL server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from awsglue import DynamicFrame
from gluepot.bookmarks import jobrun
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession
from tests.mariadb import new_schema, sql
from tests.spark.conftest import NumberStream


def filled(job, *ids: int) -> None:
    job.sql("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, name text, doc jsonb)")
    for n in ids:
        job.sql(f"INSERT INTO orders VALUES ({n}, 'n{n}', '{{}}')")


def copy(job, **options) -> None:
    run = job.init()
    job.write(job.read(), **options)
    run.commit()


def test_a_table_that_is_not_there_is_made(orders):
    filled(orders, 1, 2)
    copy(orders)
    assert orders.sql("SELECT * FROM copies ORDER BY id") == [(1, "n1", "{}"), (2, "n2", "{}")]


def test_rows_are_appended_by_the_names_of_their_columns_and_take_the_tables_types(orders):
    filled(orders, 1)
    orders.sql("CREATE TABLE copies (more int DEFAULT 7, doc jsonb, NAME varchar(10), id smallint)")
    orders.sql("INSERT INTO copies VALUES (1, NULL, 'old', 9)")
    copy(orders)
    assert orders.sql("SELECT * FROM copies ORDER BY id") == [(7, {}, "n1", 1), (1, None, "old", 9)]


def test_a_write_that_was_published_and_not_committed_is_not_written_again(orders):
    filled(orders, 1, 2)
    orders.init()
    orders.write(orders.read())
    jobrun.end("the driver died")
    copy(orders)
    assert orders.copied() == [1, 2]


def test_a_write_that_was_published_and_not_committed_is_replaced_by_one_of_more_rows(orders):
    filled(orders, 1, 2)
    orders.init()
    orders.write(orders.read())
    jobrun.end("the driver died")
    filled(orders, 3)
    copy(orders)
    assert orders.copied() == [1, 2, 3]
    filled(orders, 4)
    copy(orders)
    assert orders.copied() == [1, 2, 3, 4]


def test_rows_that_somebody_changed_meanwhile_are_not_replaced_in_silence(orders):
    filled(orders, 1, 2)
    orders.init()
    orders.write(orders.read())
    jobrun.end("the driver died")
    orders.sql("UPDATE copies SET name = 'mine' WHERE id = 1")
    filled(orders, 3)
    orders.init()
    with pytest.raises(
        PermanentError, match=r"put 2 rows into public\.copies, and of these only 1 are as it wrote them"
    ):
        orders.write(orders.read())
    assert orders.copied() == [1, 2]


def by_spark(job, *expressions: str):
    """Rows of `orders` that Spark made, so that nobody knows what work made them."""
    return DynamicFrame.fromDF(job.read().toDF().selectExpr(*expressions), job.glue_context, "f")


def test_a_corrected_script_replaces_the_rows_that_the_failed_run_appended(orders):
    filled(orders, 1, 2)
    orders.init()
    orders.write(by_spark(orders, "id", "id * 10 AS cents"))
    jobrun.end("the totals are wrong")
    run = orders.init()
    orders.write(by_spark(orders, "id", "id * 100 AS cents"))
    run.commit()
    assert orders.sql("SELECT id, cents FROM copies ORDER BY id") == [(1, 100), (2, 200)]


def test_the_same_rows_made_by_spark_are_skipped_even_if_somebody_changed_them_meanwhile(orders):
    filled(orders, 1, 2)
    orders.init()
    orders.write(by_spark(orders, "id", "name"))
    jobrun.end("the driver died")
    orders.sql("UPDATE copies SET name = 'mine' WHERE id = 1")
    run = orders.init()
    orders.write(by_spark(orders, "id", "name"))
    run.commit()
    assert orders.sql("SELECT id, name FROM copies ORDER BY id") == [(1, "mine"), (2, "n2")]


def test_two_appends_under_one_ctx_that_a_retry_makes_in_another_order_are_both_written_once(orders, number_stream):
    write = table_writer(orders.glue_context, orders.url)
    tries = [[0], [1, 0]]

    def function(frame, batch_id):
        remainders = tries.pop(0)
        for remainder in remainders:
            write(frame.where(f"value % 2 = {remainder}"), "parities")
        if len(remainders) == 1:
            raise RuntimeError("trouble after the first write")

    number_stream.run(function, clock=FakeClock())
    assert orders.sql("SELECT value FROM parities ORDER BY value") == [(n,) for n in range(10)]


def test_a_corrected_upsert_replaces_the_rows_of_the_same_keys(orders):
    filled(orders, 1, 2)
    orders.sql("CREATE TABLE copies (id bigint PRIMARY KEY, cents bigint)")
    orders.sql("INSERT INTO copies VALUES (2, 7), (5, 7)")
    orders.init()
    orders.write(by_spark(orders, "id", "id * 10 AS cents"), mode="upsert")
    jobrun.end("the totals are wrong")
    run = orders.init()
    orders.write(by_spark(orders, "id", "id * 100 AS cents"), mode="upsert")
    run.commit()
    assert orders.sql("SELECT id, cents FROM copies ORDER BY id") == [(1, 100), (2, 200), (5, 7)]


def test_an_upsert_that_would_leave_rows_of_a_failed_try_is_refused_and_changes_nothing(orders):
    filled(orders, 1, 2)
    orders.sql("CREATE TABLE copies (id bigint PRIMARY KEY, name text)")
    orders.init()
    orders.write(by_spark(orders, "id", "name"), mode="upsert")
    jobrun.end("the filter was forgotten")
    orders.init()
    with pytest.raises(PermanentError, match="upserted 2 rows into copies, and this one has other keys, so 1 of those"):
        orders.write(by_spark(orders, "id + 1 AS id", "name"), mode="upsert")
    assert orders.copied() == [1, 2]


def test_an_upsert_of_more_rows_than_the_failed_try_is_written(orders):
    filled(orders, 1)
    orders.sql("CREATE TABLE copies (id bigint PRIMARY KEY, name text)")
    orders.init()
    orders.write(by_spark(orders, "id", "name"), mode="upsert")
    jobrun.end("the driver died")
    filled(orders, 2)
    run = orders.init()
    orders.write(by_spark(orders, "id", "name"), mode="upsert")
    run.commit()
    assert orders.copied() == [1, 2]


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"mode": "overwrite"}, {}, "was an overwrite of 2 rows into copies, and this one is an append"),
        ({"mode": "upsert"}, {}, "was an upsert of 2 rows into copies, and this one is an append"),
    ],
)
def test_a_script_with_another_mode_is_refused_where_the_old_rows_are_lost(orders, before, now, said):
    filled(orders, 1, 2)
    orders.sql("CREATE TABLE copies (id bigint PRIMARY KEY, name text)")
    orders.init()
    orders.write(by_spark(orders, "id", "name"), **before)
    jobrun.end("the mode is wrong")
    orders.init()
    with pytest.raises(PermanentError, match=said):
        orders.write(by_spark(orders, "id", "name"), **now)
    assert orders.copied() == [1, 2]


def test_an_append_that_should_have_been_an_upsert_is_taken_back(orders):
    filled(orders, 1, 2)
    orders.sql("CREATE TABLE copies (id bigint PRIMARY KEY, name text)")
    orders.init()
    orders.write(by_spark(orders, "id", "name"))
    jobrun.end("the mode is wrong")
    run = orders.init()
    orders.write(by_spark(orders, "id + 1 AS id", "name"), mode="upsert")
    run.commit()
    assert orders.sql("SELECT id, name FROM copies ORDER BY id") == [(2, "n1"), (3, "n2")]


def test_an_upsert_replaces_rows_by_key_and_the_last_one_counts(orders):
    orders.sql("CREATE TABLE orders (n serial PRIMARY KEY, id int, name text)")
    orders.sql("CREATE TABLE copies (id int PRIMARY KEY, name text, n int)")
    orders.sql("INSERT INTO copies VALUES (1, 'old', 0), (5, 'kept', 0)")
    orders.sql("INSERT INTO orders (id, name) VALUES (1, 'a'), (2, 'b'), (1, 'c')")
    copy(orders, mode="upsert")
    assert orders.sql("SELECT id, name FROM copies ORDER BY id") == [(1, "c"), (2, "b"), (5, "kept")]


def test_a_replayed_upsert_writes_once(orders):
    filled(orders, 1)
    orders.sql("CREATE TABLE copies (id int PRIMARY KEY, name text, doc text)")
    orders.sql("CREATE TABLE touched (id int)")
    orders.sql(
        "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO touched VALUES (NEW.id); RETURN NEW; END'"
    )
    orders.sql("CREATE TRIGGER t AFTER INSERT OR UPDATE ON copies FOR EACH ROW EXECUTE FUNCTION touch()")
    for _ in range(2):
        orders.init()
        orders.write(orders.read(), upsertKeys=["id"])
        jobrun.end("the driver died")
    copy(orders, upsertKeys=["id"])
    assert orders.sql("SELECT count(*) FROM touched") == [(1,)]


def test_overwrite_leaves_only_what_the_run_wrote(orders):
    filled(orders, 1)
    copy(orders, mode="overwrite")
    filled(orders, 2)
    copy(orders, mode="overwrite")
    assert orders.copied() == [2]


def test_actions_run_with_the_write_or_not_at_all(orders):
    filled(orders, 1)
    orders.sql("CREATE TABLE notes (what text)")
    copy(
        orders,
        preactions="INSERT INTO notes VALUES ('a'); INSERT INTO notes VALUES ('b')",
        postactions="INSERT INTO notes SELECT id FROM copies",
    )
    assert orders.sql("SELECT what FROM notes") == [("a",), ("b",), ("1",)]
    filled(orders, 2)
    orders.init()
    with pytest.raises(ConfigError, match="no_such_table"):
        orders.write(
            orders.read(), preactions="INSERT INTO notes VALUES ('c')", postactions="DELETE FROM no_such_table"
        )
    assert orders.copied() == [1]
    assert len(orders.sql("SELECT what FROM notes")) == 3


def test_actions_may_create_the_table_and_a_statement_of_several_lines_does_not_hide_the_servers_reason(orders):
    filled(orders, 1)
    create = "CREATE TABLE IF NOT EXISTS copies (id bigint, name varchar(10), doc jsonb, more int DEFAULT 7)"
    copy(orders, preactions=create)
    assert orders.sql("SELECT id, name, more FROM copies") == [(1, "n1", 7)]
    filled(orders, 2)
    orders.init()
    with pytest.raises(ConfigError, match='did not work: relation "no_such_table" does not exist'):
        orders.write(orders.read(), postactions="DELETE FROM copies;\n DELETE\n FROM no_such_table")


def test_nothing_but_the_table_and_our_two_is_left(orders):
    filled(orders, 1)
    copy(orders)
    tables = {
        row[0]
        for row in orders.sql(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
    }
    assert tables == {"orders", "copies", "gluepot_commits", "gluepot_rejects"}


def test_records_that_could_not_go_on_are_kept_in_a_table(orders, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text('{"id": 1}\n{broken\n')
    run = orders.init()
    frame = orders.glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [str(tmp_path / "in")]}, "json", transformation_ctx="source0"
    )
    orders.write(frame)
    run.commit()
    assert orders.copied() == [1]
    assert orders.sql("SELECT target, convert_from(raw, 'UTF8') FROM gluepot_rejects") == [("public.copies", "{broken")]


def test_a_field_that_the_table_lacks_is_named(orders):
    filled(orders, 1)
    orders.sql("CREATE TABLE copies (id int, title text, doc text)")
    orders.init()
    with pytest.raises(ConfigError, match=r"public\.copies has no column 'name'; it has id, title, doc"):
        orders.write(orders.read())


def test_a_micro_batch_that_fails_after_its_write_is_written_once(orders, tmp_path):
    numbers = NumberStream(orders.glue_context, tmp_path / "checkpoint")
    calls = []

    def copy_batch(frame, batch_id):
        rows = frame.withColumnRenamed("value", "id")
        orders.write(DynamicFrame.fromDF(rows, orders.glue_context, "f"))
        calls.append(batch_id)
        if len(calls) == 1:
            raise OSError("the first call")

    try:
        numbers.run(copy_batch)
    finally:
        session.install(StreamSession())
    assert calls == [0, 0]
    assert orders.copied() == list(range(10))


def test_two_tables_are_written_once_by_a_second_attempt_that_writes_them_in_another_order(orders):
    filled(orders, 1, 2, 3)
    orders.init()
    orders.write(orders.read(), table="a")
    jobrun.end("the driver died")
    run = orders.init()
    frame = orders.read()
    orders.write(frame, table="b")
    orders.write(frame, table="public.a")
    run.commit()
    assert (
        orders.sql("SELECT id FROM a ORDER BY id") == orders.sql("SELECT id FROM b ORDER BY id") == [(1,), (2,), (3,)]
    )


def test_a_record_of_an_older_gluepot_which_names_no_table_is_found_by_the_rows(orders):
    filled(orders, 1, 2)
    orders.init()
    frame = orders.read()
    orders.write(frame, table="a")
    orders.write(frame, table="b")
    jobrun.end("the driver died")
    orders.sql("UPDATE gluepot_commits SET ctx = 'sink0.2' WHERE target = 'public.b'")
    orders.sql("ALTER TABLE gluepot_commits DROP CONSTRAINT gluepot_commits_pkey, DROP COLUMN target")
    orders.sql("ALTER TABLE gluepot_commits ADD PRIMARY KEY (query_id, batch_id, ctx)")
    run = orders.init()
    frame = orders.read()
    orders.write(frame, table="b")
    orders.write(frame, table="a")
    run.commit()
    assert orders.sql("SELECT id FROM a ORDER BY id") == orders.sql("SELECT id FROM b ORDER BY id") == [(1,), (2,)]


def table_writer(glue_context, url):
    def write(frame, table):
        glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(frame, glue_context, "numbers"),
            connection_type="postgresql",
            connection_options={"url": url, "dbtable": table},
            transformation_ctx="sink",
        )

    return write


@pytest.fixture
def number_stream(glue_context, tmp_path):
    yield NumberStream(glue_context, tmp_path / "checkpoint")
    session.install(StreamSession())


def test_a_stream_writes_two_tables_once_in_whichever_order_and_from_whichever_thread(orders, number_stream):
    write = table_writer(orders.glue_context, orders.url)
    tries = [["a"], ["b", "a"], ["a", "b"]]

    def function(frame, batch_id):
        tables = tries.pop(0)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda table: write(frame, table), tables))
        if len(tries) == 2:
            raise RuntimeError("trouble after the first write")

    number_stream.run(function, clock=FakeClock(), max_batches=2)
    wanted = [(n,) for n in range(20)]
    assert (
        orders.sql("SELECT value FROM a ORDER BY value") == orders.sql("SELECT value FROM b ORDER BY value") == wanted
    )


def test_rows_that_another_branch_of_the_function_has_written_go(orders, number_stream):
    write = table_writer(orders.glue_context, orders.url)
    tries = []

    def function(frame, batch_id):
        tries.append(batch_id)
        write(frame, "always")
        if len(tries) == 1:
            write(frame, "sometimes")
            raise RuntimeError("trouble after both writes")

    number_stream.run(function, clock=FakeClock(), max_batches=1)
    assert orders.sql("SELECT count(*) FROM always") == [(10,)]
    assert orders.sql("SELECT count(*) FROM sometimes") == [(0,)]


def test_rows_that_a_driver_that_died_has_written_elsewhere_in_the_database_go(orders, number_stream):
    write = table_writer(orders.glue_context, orders.url)

    def dying(frame, batch_id):
        write(frame, "odd")
        raise ConfigError("nothing that a retry could change")

    with pytest.raises(ConfigError):
        number_stream.run(dying, clock=FakeClock(), max_batches=1)
    assert orders.sql("SELECT count(*) FROM odd") == [(10,)]
    number_stream.run(lambda frame, batch_id: write(frame, "even"), clock=FakeClock(), max_batches=1)
    assert orders.sql("SELECT count(*) FROM odd") == [(0,)]
    assert orders.sql("SELECT count(*) FROM even") == [(10,)]


def test_a_run_that_was_not_committed_is_replaced_in_mariadb_too(orders, mariadb):
    def write(frame, url):
        orders.glue_context.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="mysql",
            connection_options={"url": url, "dbtable": "copies"},
            transformation_ctx="sink0",
        )

    with new_schema(mariadb) as url:
        for ids in ((1, 2), (3,)):
            filled(orders, *ids)
            orders.init()
            write(orders.read(), url)
            jobrun.end("the driver died")
            assert len(sql(url, "SELECT id FROM copies")) == len(orders.sql("SELECT id FROM orders"))
        run = orders.init()
        write(orders.read(), url)
        run.commit()
        assert sql(url, "SELECT id, name, doc FROM copies ORDER BY id") == [
            (1, "n1", "{}"), (2, "n2", "{}"), (3, "n3", "{}"),
        ]  # fmt: skip


def test_a_micro_batch_that_writes_elsewhere_in_its_second_try_leaves_nothing_in_mariadb(
    orders, number_stream, mariadb
):
    tries = []

    with new_schema(mariadb) as url:

        def write(frame, table):
            orders.glue_context.write_dynamic_frame.from_options(
                frame=DynamicFrame.fromDF(frame, orders.glue_context, "numbers"),
                connection_type="mysql",
                connection_options={"url": url, "dbtable": table},
                transformation_ctx="sink",
            )

        def function(frame, batch_id):
            tries.append(batch_id)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda table: write(frame, table), ["a", "odd" if len(tries) == 1 else "even"]))
            if len(tries) == 1:
                raise RuntimeError("trouble after both writes")

        number_stream.run(function, clock=FakeClock(), max_batches=2)
        assert sql(url, "SELECT value FROM a ORDER BY value") == [(n,) for n in range(20)]
        assert sql(url, "SELECT COUNT(*) FROM odd") == [(0,)]
        assert sql(url, "SELECT COUNT(*) FROM even") == [(20,)]


def test_rows_that_the_tables_own_trigger_does_not_store_are_told(orders, capsys):
    filled(orders, 1, 2)
    orders.sql("CREATE TABLE copies (id bigint, name text, doc jsonb)")
    body = "BEGIN RETURN CASE WHEN NEW.id > 1 THEN NEW END; END"
    orders.sql(f"CREATE FUNCTION large_ids() RETURNS trigger AS '{body}' LANGUAGE plpgsql")
    orders.sql("CREATE TRIGGER large BEFORE INSERT ON copies FOR EACH ROW EXECUTE FUNCTION large_ids()")
    copy(orders)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines() if "rows_not_stored" in line]
    assert [(one["arrived"], one["stored"]) for one in told] == [(2, 1)]
    assert orders.copied() == [2]
