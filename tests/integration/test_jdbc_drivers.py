"""Databases that only a Java driver reaches: PostgreSQL's own, and Derby's, which comes with Spark."""

from __future__ import annotations

import pytest

from awsglue.job import Job
from gluepot.core.errors import NotSupported
from gluepot.servers import jars


def of_java(orders) -> dict[str, str]:
    (jar,) = jars.ensure("postgresql-jdbc")
    host = orders.url.rpartition("@")[2]
    return {
        "url": f"jdbc:postgresql://{host}",
        "user": orders.url.partition("://")[2].partition("@")[0],
        "customJdbcDriverS3Path": str(jar),
        "customJdbcDriverClassName": "org.postgresql.Driver",
    }


def test_a_driver_that_the_script_brings_reads_what_is_new(orders):
    orders.sql("CREATE TABLE orders (day date, id int, at timestamp, name text)")
    orders.sql(
        "INSERT INTO orders VALUES ('2026-01-01', 1, '2026-01-01 10:00', 'a'), ('2026-01-02', 2, '2026-01-02 10:00', 'b')"
    )
    options = {**of_java(orders), "jobBookmarkKeys": ["day", "id"], "hashfield": "name", "hashpartitions": "2"}
    assert orders.run(**options) == [1, 2]
    orders.sql("INSERT INTO orders VALUES ('2026-01-02', 3, NULL, 'c')")
    assert orders.run(**options) == [3]
    assert orders.run(**options) == []
    some = orders.read("", **of_java(orders), pushDownPredicate="id = 1 OR name = 'c' -- two", hashfield="id")
    assert sorted(row["id"] for row in some.toDF().collect()) == [1, 3]


@pytest.mark.parametrize(("keys", "overlap"), [("at", "1 hour"), ("id", "10")])
def test_late_rows_are_found_through_it_too(orders, keys, overlap):
    orders.sql("CREATE TABLE orders (id int, at timestamp)")
    orders.sql("INSERT INTO orders VALUES (1, '2026-01-01 10:00'), (5, '2026-01-01 10:50')")
    options = {**of_java(orders), "jobBookmarkKeys": [keys], "jobBookmarkOverlap": overlap}
    assert orders.run(**options) == [1, 5]
    orders.sql("INSERT INTO orders VALUES (3, '2026-01-01 10:20:00.000001')")
    assert orders.run(**options) == [3]


def test_writing_through_it_says_what_to_do_instead(orders):
    orders.sql("CREATE TABLE orders (id int)")
    with pytest.raises(NotSupported, match="leave customJdbcDriverS3Path out"):
        orders.write(orders.read(), **of_java(orders))


def test_another_database_is_read_by_the_standards_rules(glue_context, tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    jvm = glue_context.spark_session._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))

    def execute(statement: str) -> None:
        connection = jvm.java.sql.DriverManager.getConnection(url)
        connection.createStatement().execute(statement)
        connection.close()

    def run() -> list[int]:
        job = Job(glue_context)
        job.init("derby", {"job_bookmark_option": "job-bookmark-enable"})
        options = {
            "url": url,
            "dbtable": "orders",
            "jobBookmarkKeys": ["moment", "id"],
            "hashexpression": "id",
            "hashpartitions": "2",
        }
        frame = glue_context.create_dynamic_frame.from_options("jdbc", options, transformation_ctx="source0")
        ids = sorted(row["ID"] for row in frame.toDF().collect())
        job.commit()
        return ids

    execute("CREATE TABLE orders (moment TIMESTAMP, id INT)")
    execute("INSERT INTO orders VALUES ('2026-01-01 10:00:00.5', -1), ('2026-01-01 10:00:00.5', 2)")
    assert run() == [-1, 2]
    execute("INSERT INTO orders VALUES ('2026-01-01 10:00:00.5', 3), ('2026-01-01 11:00:00', 1)")
    assert run() == [1, 3]
