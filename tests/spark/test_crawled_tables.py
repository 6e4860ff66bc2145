"""Tables that a crawl makes: DuckDB, Spark SQL, `from_catalog` and `gluepot catalog rows` read the same rows of each."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import Row

from awsglue.data_catalog import current_catalog
from gluepot.bookmarks import jobrun
from gluepot.catalog.values import Database
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import crawl_settings
from gluepot.tables.first_rows import first_rows
from tests.duck import duck


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    catalog = current_catalog()
    catalog.add_database(Database("web"))
    yield catalog
    jobrun.end("the test ended")


def crawled(catalog, folder, **members):
    given = {"Name": "nightly", "DatabaseName": "web", "Targets": {"S3Targets": [{"Path": str(folder)}]}, **members}
    return crawl(crawl_settings(given), catalog, random.Random(1))


def plain(value):
    match value:
        case Row():
            return {name: plain(one) for name, one in value.asDict().items()}
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list():
            return [plain(one) for one in value]
        case datetime():
            return value.replace(tzinfo=None)
        case bytearray():
            return bytes(value)
    return value


def rows_of(frame, names):
    return sorted(({name: plain(row[name]) for name in names} for row in frame.collect()), key=str)


def by_duck(sql, names):
    found = duck().execute("SET TimeZone = 'UTC'; " + sql).fetchall()
    return sorted(({name: plain(value) for name, value in zip(names, row, strict=True)} for row in found), key=str)


def check(glue_context, table, sql):
    """Compare what four readers read of a table, and the types that Spark SQL sees with the catalog's."""
    described = current_catalog().table("web", table)
    columns = (*described.storage.columns, *described.partition_keys)
    names = [column.name for column in columns]
    frame = glue_context.spark_session.table(f"web.{table}")
    assert frame.columns == names
    assert [kind for _, kind in frame.dtypes] == [column.type for column in columns]
    wanted = by_duck(sql, names)
    assert wanted
    assert rows_of(frame, names) == wanted
    dynamic = glue_context.create_dynamic_frame.from_catalog(database="web", table_name=table).toDF()
    assert rows_of(dynamic, names) == wanted
    first = first_rows(described, current_catalog().partitions(described), len(wanted) + 1)
    assert sorted(({name: plain(row[name]) for name in names} for row in first), key=str) == wanted


def test_csv_with_header_quotes_nulls_and_days(glue_context, web, tmp_path):
    for day in (1, 2):
        folder = tmp_path / "orders" / f"day={day}"
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text(
            "id,total,ok,placed,at,text\n"
            f'{day},1.5,true,2026-01-0{day},2026-01-01 10:00:00,"a, b"\n'
            f"{day + 10},,false,2026-01-0{day},2026-01-02 11:30:00,c\n"
        )
    crawled(web, tmp_path / "orders")
    files = f"read_csv('{tmp_path}/orders/*/*.csv', hive_partitioning=true, hive_types_autocast=false)"
    check(glue_context, "orders", f'SELECT id, total, ok, placed, "at", text, day FROM {files}')


def test_csv_without_a_header_and_with_bars(glue_context, web, tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x.txt").write_text("1|Ann|0.5\n2|Bob|1.5\n")
    crawled(web, tmp_path / "plain")
    check(glue_context, "plain", f"SELECT * FROM read_csv('{tmp_path}/plain/x.txt', header=false, delim='|')")


def test_nested_json_by_date_folders(glue_context, web, tmp_path):
    for day in ("01", "02"):
        folder = tmp_path / "events" / "2026" / day
        folder.mkdir(parents=True)
        record = {"id": int(day), "user": {"name": "Ann", "tags": ["a", "b"]}, "score": 1.5}
        (folder / "x").write_text(json.dumps(record) + "\n")
    crawled(web, tmp_path / "events")
    fields = "id, user, score, split_part(filename, '/', -3), split_part(filename, '/', -2)"
    check(
        glue_context,
        "events",
        f"SELECT {fields} FROM read_json('{tmp_path}/events/*/*/x', format='newline_delimited', filename=true)",
    )


def test_json_documents_over_several_lines(glue_context, web, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "x.json").write_text(json.dumps({"id": 1, "name": "Ann"}, indent=2))
    crawled(web, tmp_path / "docs")
    check(glue_context, "docs", f"SELECT id, name FROM read_json('{tmp_path}/docs/x.json')")


def test_what_spark_has_written_with_its_marks(glue_context, web, tmp_path):
    rows = [
        (1, Decimal("1.50"), date(2026, 1, 1), datetime(2026, 1, 1, 10, tzinfo=UTC), ["x"], {"a": 1}, "eu"),
        (2, None, date(2026, 1, 2), datetime(2026, 1, 2, 11, tzinfo=UTC), [], {}, "us"),
    ]
    schema = "id long, price decimal(10,2), day date, at timestamp, tags array<string>, counts map<string,int>, region string"
    frame = glue_context.spark_session.createDataFrame(rows, schema)
    frame.select("id", "price", "day", "at", "tags", "region").write.partitionBy("region").parquet(
        str(tmp_path / "sales")
    )
    crawled(web, tmp_path / "sales")
    files = f"read_parquet('{tmp_path}/sales/*/*.parquet', hive_partitioning=true)"
    check(glue_context, "sales", f'SELECT id, price, day, "at", tags, region FROM {files}')

    frame.select("id", "price", "counts").write.orc(str(tmp_path / "scores"))
    crawled(web, tmp_path / "scores")
    names = ["id", "price", "counts"]
    wanted = rows_of(frame.select(*names), names)
    assert rows_of(glue_context.spark_session.table("web.scores"), names) == wanted
    read = glue_context.create_dynamic_frame.from_catalog(database="web", table_name="scores").toDF()
    assert sorted(row["id"] for row in read.collect()) == [1, 2]


def test_a_table_that_grows_a_column_is_read_with_its_older_partitions(glue_context, web, tmp_path):
    duck().execute(
        f"COPY (SELECT 1 AS id, 2 AS a, 3 AS b, 1 AS day) TO '{tmp_path}/grown' (FORMAT parquet, PARTITION_BY (day))"
    )
    crawled(web, tmp_path / "grown")
    duck().execute(
        f"COPY (SELECT 2 AS id, 2 AS a, 3 AS b, 'new' AS c, 2 AS day) TO '{tmp_path}/grown'"
        " (FORMAT parquet, PARTITION_BY (day), APPEND)"
    )
    crawled(web, tmp_path / "grown")
    assert web.table("web", "grown").version == 1
    files = f"read_parquet('{tmp_path}/grown/*/*.parquet', hive_partitioning=true, union_by_name=true, hive_types_autocast=false)"
    check(glue_context, "grown", f"SELECT id, a, b, c, day FROM {files}")


def test_logs_are_read_by_from_catalog(glue_context, web, tmp_path):
    (tmp_path / "access").mkdir()
    line = '10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /{} HTTP/1.0" 200 {}\n'
    (tmp_path / "access" / "x.log").write_text("".join(line.format(page, 10 * page) for page in range(3)))
    crawled(web, tmp_path / "access")
    read = glue_context.create_dynamic_frame.from_catalog(database="web", table_name="access").toDF()
    assert sorted((row["request"], row["bytes"]) for row in read.collect()) == [("/0", "0"), ("/1", "10"), ("/2", "20")]
    assert "access" in [one.name for one in glue_context.spark_session.catalog.listTables("web")]
