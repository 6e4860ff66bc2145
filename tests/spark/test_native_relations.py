"""Queries over our records and what only Spark can read, such as cached DataFrames, give in DuckDB what Spark gives."""

from __future__ import annotations

import json

import pytest
from pyspark.sql.functions import col

from gluepot.engine.native import copies
from gluepot.engine.row_files import NoRoom, RowFolders
from tests.native_tables import answer_of, plain

CLICKS = [
    {"id": 1, "user": 7, "at": 3, "device": {"os": "linux", "size": {"w": 1.5}}, "tags": ["a", "b"], "page": "x" * 900},
    {"id": 2, "user": 7, "at": 9, "device": {"os": None}, "tags": [], "items": [{"sku": "s", "n": 1}, None]},
    {"id": 3, "user": 8, "at": 1, "tags": [None], "items": []},
    {"id": 4, "user": None, "at": 4, "device": {}, "tags": ["c"], "late": 1.0},
    {"id": 5, "user": 8, "at": 2, "device": {"os": "größe", "size": {"w": -0.0, "h": 2}}, "tags": None},
    {"id": 6, "user": 9, "at": 1, "device": None, "items": [{"sku": "t"}]},
]
NEWEST = "SELECT *, row_number() OVER (PARTITION BY user ORDER BY at DESC) AS nth FROM clicks"
STATEMENTS = [
    f"SELECT * FROM ({NEWEST}) WHERE nth = 1",
    f"SELECT user, device.os, device.size.w AS w, try_element_at(tags, -1) AS last, size(items) AS n, nth FROM ({NEWEST})",
    f"SELECT id, get(items, 0).sku AS sku, get(items, 1) AS second, device IS NULL AS none, nth FROM ({NEWEST})",
    f"SELECT id, coalesce(tags, array('z')) AS t, if(at > 2, device, null) AS d, nth FROM ({NEWEST})",
    "SELECT c.id, lag(device) OVER (ORDER BY id) AS d, name FROM clicks c LEFT JOIN users u ON u.user = c.user",
    "SELECT coalesce(c.user, u.user) AS user, name, joined, id, tags FROM clicks c FULL JOIN users u ON u.user = c.user",
    "SELECT c.id, n.word FROM clicks c JOIN VALUES (7, 'seven'), (8, null) AS n(user, word) ON n.user = c.user",
    "SELECT r.id, count(c.id) AS n FROM range(10) r LEFT JOIN clicks c ON c.user = r.id GROUP BY r.id",
    "SELECT c.id FROM clicks c WHERE user IN (SELECT user FROM users WHERE name > 'b')",
    "SELECT a.name, b.name AS other, c.id FROM clicks c JOIN users a ON a.user = c.user JOIN users b ON b.user = a.user + 1",
    "SELECT d.city, count(*) AS n FROM clicks c JOIN towns d ON d.user = c.user GROUP BY d.city",
]


@pytest.fixture(scope="module")
def spark(glue_context, tmp_path_factory):
    folder = tmp_path_factory.mktemp("relations")
    (folder / "clicks").mkdir()
    for number, part in enumerate((CLICKS[::2], CLICKS[1::2])):
        (folder / f"clicks/{number}.json").write_text("".join(json.dumps(one) + "\n" for one in part))
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(folder / "clicks")]}, format="json")
    frame.toDF().createOrReplaceTempView("clicks")
    session = glue_context.spark_session
    users = session.sql(
        """SELECT user, name, joined, map('k', user) AS more FROM VALUES (7L, 'ann', timestamp'2026-01-02 03:04:05'),
        (8L, 'bob', timestamp'1500-01-01'), (10L, null, null) AS (user, name, joined)"""
    )
    users.cache().createOrReplaceTempView("users")
    towns = session.sql("SELECT * FROM VALUES (7L, 'Köln'), (7L, 'Oslo'), (9L, null) AS (user, city)").coalesce(1)
    towns.write.parquet(str(folder / "towns"))
    session.read.parquet(str(folder / "towns")).createOrReplaceTempView("towns")
    yield session
    users.unpersist()


def rows_of(frame):
    return sorted(plain(row) for row in frame.collect())


def found_by(spark, frame):
    """Return the rows that DuckDB gives, with structs as Spark gives them."""
    found = answer_of(spark, frame)
    assert found is not None
    kinds = frame.schema
    return sorted(plain(_as_spark(value, one.dataType) for value, one in zip(row, kinds, strict=True)) for row in found)


def _as_spark(value, kind):
    return kind.fromInternal(kind.toInternal(value)) if isinstance(value, dict | list) else value


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_rows_are_those_that_spark_gives(spark, statement):
    frame = spark.sql(statement)

    assert found_by(spark, frame) == rows_of(frame)


def test_nested_rows_are_written_as_spark_writes_them(spark, tmp_path):
    frame = spark.sql(STATEMENTS[0])
    frame.write.parquet(str(tmp_path / "ours"))
    frame.write.json(str(tmp_path / "json"))

    written = spark.read.parquet(str(tmp_path / "ours"))
    assert written.dtypes == frame.dtypes
    assert rows_of(written) == rows_of(frame)
    assert spark.read.schema(frame.schema).json(str(tmp_path / "json")).count() == frame.count()


def test_a_cached_frame_is_copied_once_until_it_is_another(spark, monkeypatch):
    made, written = [], copies._written
    monkeypatch.setattr(copies, "_written", lambda *given: made.append(written(*given)) or made[-1])
    statement = "SELECT c.id, o.word FROM clicks c JOIN other o ON o.user = c.user"
    for word in ("old", "new"):
        other = spark.sql(f"SELECT * FROM VALUES (7L, '{word}') AS (user, word)").cache()
        other.createOrReplaceTempView("other")
        for _ in range(2):
            assert [row[1] for row in answer_of(spark, spark.sql(statement))] == [word, word]
        other.unpersist()

    assert len(made) == 2


def test_cached_parts_of_one_frame_are_told_apart(spark):
    clicks = spark.table("clicks").select("id", "user", "at")
    early, late = clicks.where("at < 3").cache(), clicks.where("at > 3").cache()
    answered = 0
    try:
        for frame in (early.union(late).union(clicks), clicks.union(early), early.union(clicks)):
            counted = frame.join(spark.table("clicks").select(col("user").alias("other")), col("user") == col("other"))
            counted = counted.groupBy("id").count()
            found = answer_of(spark, counted)

            assert found is None or sorted(map(plain, found)) == rows_of(counted)
            answered += found is not None
    finally:
        early.unpersist()
        late.unpersist()

    assert answered


def test_without_room_for_a_copy_spark_computes(spark, monkeypatch):
    def full(_):
        raise NoRoom

    other = spark.sql("SELECT * FROM VALUES (7L, 'seven') AS (user, word)").cache()
    other.createOrReplaceTempView("others")
    monkeypatch.setattr(RowFolders, "next", full)

    assert answer_of(spark, spark.sql("SELECT c.id, o.word FROM clicks c JOIN others o ON o.user = c.user")) is None
    other.unpersist()


def test_relations_larger_than_ours_stay_with_spark(spark):
    assert answer_of(spark, spark.sql("SELECT c.id FROM clicks c JOIN range(1000000) r ON r.id = c.user")) is None
    assert answer_of(spark, spark.sql("SELECT user, count(*) FROM users GROUP BY user")) is None


def test_files_that_are_read_may_be_written(spark, tmp_path):
    spark.table("towns").write.parquet(str(tmp_path / "towns"))
    spark.read.parquet(str(tmp_path / "towns")).createOrReplaceTempView("kept")
    joined = spark.sql("SELECT k.user, k.city, c.id FROM kept k LEFT JOIN clicks c ON c.user = k.user")
    wanted = rows_of(joined)

    joined.write.mode("overwrite").parquet(str(tmp_path / "towns"))

    assert rows_of(spark.read.parquet(str(tmp_path / "towns"))) == wanted
