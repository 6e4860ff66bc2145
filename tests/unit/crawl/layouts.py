"""Folders of files as other software leaves them, each with the tables that a crawl makes of it."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pandas as pd
import pyarrow as pa
from pyarrow import feather, orc, parquet

from tests.duck import duck

COMBINED = (
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 "http://example.com/" "Mozilla/4.08"'
)
COMMON = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326'
_COMMON_FIELDS = "clientip ident auth timestamp verb request httpversion rawrequest response bytes"
_SYSLOG = "timestamp facility priority logsource program pid message"


@dataclass(frozen=True)
class Expected:
    """A table.

    Args:
        format: classification, and the compression in brackets.
        columns: names and types.
        keys: names of the partition keys.
        partitions: their number.
        parameters: some that it has.
    """

    format: str
    columns: str
    keys: str = ""
    partitions: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """A folder.

    Args:
        name: a sentence about it.
        build: fills the folder `lake`.
        tables: by name.
        left_out: how many files or folders are told as left out.
        settings: further members of the crawler.
        configuration: of the crawler.
        classifiers: as the API has them.
    """

    name: str
    build: Callable[[Path], object]
    tables: Mapping[str, Expected]
    left_out: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    classifiers: Sequence[Mapping[str, Any]] = ()
    exclusions: Sequence[str] = ()
    reads: bool = True


def texts(files: Mapping[str, str | bytes]) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return build


def columnar(files: Mapping[str, pa.Table], write: Callable[..., Any] = parquet.write_table) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        for name, table in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write(table, path)

    return build


def by_duck(sql: str) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        duck().execute(sql.format(root=root))

    return build


def all_of(*builds: Callable[[Path], object]) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        for one in builds:
            one(root)

    return build


def lines(*records: Mapping[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


def avro_bytes(schema: Mapping[str, Any], records: Sequence[Mapping[str, Any]], codec: str = "null") -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, dict(schema), list(records), codec=codec)
    return out.getvalue()


def zip_bytes(**members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def hadoop_snappy(plain: bytes) -> bytes:
    packed = bytes(pa.Codec("snappy").compress(plain))
    return len(plain).to_bytes(4) + len(packed).to_bytes(4) + packed


def spark_output(root: Path) -> None:
    """Fill a folder as Spark's writer does, with its marks and checksums."""
    columnar({f"events/part-0000{n}-c000.snappy.parquet": pa.table({"id": [n], "what": ["x"]}) for n in range(3)})(root)
    for name in ("_SUCCESS", ".part-00000-c000.snappy.parquet.crc", "_temporary/0/part-00000.parquet"):
        texts({f"events/{name}": b"crc"})(root)


def delta_table(root: Path) -> None:
    from deltalake import write_deltalake

    write_deltalake(str(root / "orders"), pa.table({"id": [1, 2], "day": ["a", "b"]}), partition_by=["day"])
    write_deltalake(str(root / "orders"), pa.table({"id": [3], "day": ["c"]}), mode="append")


def iceberg_table(root: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    root.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("lake", uri="sqlite:///:memory:", warehouse=f"file://{root}")
    catalog.create_namespace("web")
    table = catalog.create_table(
        "web.clicks", schema=pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    )
    table.append(pa.table({"id": [1], "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"))}))
    catalog.close()


def own_table(root: Path) -> None:
    """Fill a folder as jobs of Gluepot do: manifests and refused records beside the files."""
    columnar(
        {"clicks/day=1/run-a-0.parquet": pa.table({"id": [1]}), "clicks/day=2/run-a-1.parquet": pa.table({"id": [2]})}
    )(root)
    texts(
        {
            "clicks/_gluepot/commits/1.json": "{}",
            "clicks/_rejects/run-a.rejects": "{}",
            "clicks/_gluepot/staging/x": "x",
        }
    )(root)


def quoted_csv(path: str) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        with (root / path).open("w", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow(["id", "text"])
            writer.writerows([["1", 'say "hi", all'], ["2", "two\nlines"]])

    return build


def pandas_csv(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame({"id": [1, 2], "price": [1.5, None], "name": ["a", None]})
    frame.to_csv(root / "part.csv", index=False)


def pandas_json(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"id": [1, 2], "tags": [["a"], ["b", "c"]]}).to_json(root / "x.json", orient="records", lines=True)


def ion_file(root: Path) -> None:
    from amazon.ion import simpleion

    root.mkdir(parents=True, exist_ok=True)
    records = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    (root / "x.ion").write_bytes(simpleion.dumps(records, binary=True, sequence_as_stream=True))


def nested_parquet(root: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1], pa.int32()),
            "price": pa.array([Decimal("1.50")], pa.decimal128(12, 2)),
            "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
            "day": pa.array([date(2026, 1, 1)]),
            "raw": pa.array([b"x"]),
            "ok": pa.array([True]),
            "tags": pa.array([["a"]], pa.list_(pa.string())),
            "by": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "inner": pa.array([{"x": 1.5, "y": {"z": "q"}}]),
            "small": pa.array([1], pa.int16()),
            "real": pa.array([1.0], pa.float32()),
        }
    )
    columnar({"nested/x.parquet": table})(root)


USERS = "id,name,joined\n1,Ann,2026-01-01\n2,Bob,2026-01-02\n"
SALES = "id,amount\n1,1.5\n2,2.5\n"
MIXED = {
    "type": "record",
    "name": "Mixed",
    "fields": [{"name": "id", "type": "int"}, {"name": "value", "type": ["null", "int", "string"]}],
}
PERSON = {
    "type": "record",
    "name": "person",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
}

LAYOUTS = (
    Layout(
        "the example of Glue's guide: folders of year, month and day with one format are partitions",
        texts(
            {f"year=2019/month={month}/day={day}/x.csv": SALES for month, day in (("Jan", 1), ("Jan", 2), ("Feb", 1))}
        ),
        {"lake": Expected("csv", "id bigint, amount double", "year, month, day", 3)},
    ),
    Layout(
        "the example of Glue's guide: similar tables below one folder are one table with two keys",
        texts({f"table{n}/partition{p}/x.csv": SALES for n, p in ((1, 1), (1, 2), (1, 3), (2, 4), (2, 5))}),
        {"lake": Expected("csv", "id bigint, amount double", "partition_0, partition_1", 5)},
    ),
    Layout(
        "folders that are not similar are tables named after them",
        texts({"year=2017/x.csv": SALES, "year=2018/x.csv": USERS, "year=2019/x.json": lines({"q": 1, "r": "s"})}),
        {
            "year_2017": Expected("csv", "id bigint, amount double"),
            "year_2018": Expected("csv", "id bigint, name string, joined date"),
            "year_2019": Expected("json", "q int, r string"),
        },
    ),
    Layout(
        "seven of ten similar folders are enough for one table",
        texts(
            {f"day={n}/x.json": lines({"a": n, "b": 1, "c": 1}) for n in range(7)}
            | {f"day={n}/x.json": lines({"x": n, "y": 1}) for n in range(7, 10)}
        ),
        {"lake": Expected("json", "a int, b int, c int, x int, y int", "day", 10)},
    ),
    Layout(
        "six of ten similar folders are not enough",
        texts(
            {f"day={n}/x.json": lines({"a": n, "b": 1, "c": 1}) for n in range(6)}
            | {f"day={n}/x.json": lines({"x": n, "y": 1}) for n in range(6, 10)}
        ),
        {f"day_{n}": Expected("json", "a int, b int, c int" if n < 6 else "x int, y int") for n in range(10)},
    ),
    Layout(
        "with CombineCompatibleSchemas similarity does not matter",
        texts({"a/x.json": lines({"a": 1}), "b/x.json": lines({"b": 1})}),
        {"lake": Expected("json", "a int, b int", "partition_0", 2)},
        configuration={"Grouping": {"TableGroupingPolicy": "CombineCompatibleSchemas"}},
    ),
    Layout(
        "other formats do not go together, even with CombineCompatibleSchemas",
        texts({"a/x.json": lines({"a": 1}), "b/x.csv": SALES}),
        {"a": Expected("json", "a int"), "b": Expected("csv", "id bigint, amount double")},
        configuration={"Grouping": {"TableGroupingPolicy": "CombineCompatibleSchemas"}},
    ),
    Layout(
        "other compression does not go together",
        texts({"a/x.csv": SALES, "b/x.csv.gz": gzip.compress(SALES.encode())}),
        {
            "a": Expected("csv", "id bigint, amount double"),
            "b": Expected("csv (gzip)", "id bigint, amount double", parameters={"compressionType": "gzip"}),
        },
    ),
    Layout(
        "another delimiter does not go together",
        texts({"a/x.csv": SALES, "b/x.csv": SALES.replace(",", "|")}),
        {
            "a": Expected("csv", "id bigint, amount double", parameters={"delimiter": ","}),
            "b": Expected("csv", "id bigint, amount double", parameters={"delimiter": "|"}),
        },
    ),
    Layout(
        "files at other depths are other tables",
        texts({"a/x.csv": SALES, "b/deeper/x.csv": SALES}),
        {
            "a": Expected("csv", "id bigint, amount double"),
            "b": Expected("csv", "id bigint, amount double", "partition_0", 1),
        },
    ),
    Layout(
        "files beside folders are tables of their own",
        texts({"a.csv": USERS, "b.csv": USERS, "days/day=1/x.csv": SALES, "days/day=2/x.csv": SALES}),
        {
            "a_csv": Expected("csv", "id bigint, name string, joined date"),
            "b_csv": Expected("csv", "id bigint, name string, joined date"),
            "lake": Expected("csv", "id bigint, amount double", "partition_0, day", 2),
        },
    ),
    Layout(
        "unlike files in one folder are tables of their own",
        texts({"users.csv": USERS, "sales.json": lines({"a": 1})}),
        {
            "users_csv": Expected("csv", "id bigint, name string, joined date"),
            "sales_json": Expected("json", "a int"),
        },
    ),
    Layout(
        "TableLevelConfiguration says where tables are",
        texts({f"{name}/{year}/x.json": lines({name: 1}) for name in ("a", "b") for year in (2024, 2025)}),
        {
            "a": Expected("json", "a int", "partition_0", 2),
            "b": Expected("json", "b int", "partition_0", 2),
        },
        configuration={"Grouping": {"TableLevelConfiguration": "below"}},
    ),
    Layout(
        "a prefix stands before names, and names lose odd characters",
        texts({"My Sales-2024.v1/x.csv": SALES, "Ünï/x.json": lines({"a": 1})}),
        {
            "raw_my_sales_2024_v1": Expected("csv", "id bigint, amount double"),
            "raw__n_": Expected("json", "a int"),
        },
        settings={"TablePrefix": "raw_"},
    ),
    Layout(
        "dates without names, as Firehose writes them",
        texts({f"2026/{month:02}/{day:02}/x": lines({"id": day}) for month in (1, 2) for day in (1, 2)}),
        {"lake": Expected("json", "id int", "partition_0, partition_1, partition_2", 4)},
    ),
    Layout(
        "named and unnamed levels, values URL-encoded",
        texts({f"2026/city={city}/x.json": lines({"id": 1}) for city in ("New%20York", "Bonn")}),
        {"lake": Expected("json", "id int", "partition_0, city", 2)},
    ),
    Layout(
        "a partition key in two spellings, and a null partition of Hive",
        texts({"Day=1/x.json": lines({"id": 1}), "day=__HIVE_DEFAULT_PARTITION__/x.json": lines({"id": 2})}),
        {"lake": Expected("json", "id int", "day", 2)},
    ),
    Layout(
        "a column that is a partition key, too",
        texts({"day=1/x.csv": "id,day\n1,7\n", "day=2/x.csv": "id,day\n2,8\n"}),
        {"lake": Expected("csv", "id bigint, day_1 bigint", "day", 2)},
        reads=False,
    ),
    Layout(
        "Hive-partitioned Parquet of DuckDB",
        by_duck(
            "COPY (SELECT i AS id, i % 2 AS parity, 'x' AS what FROM range(4) t(i))"
            " TO '{root}/numbers' (FORMAT parquet, PARTITION_BY (parity))"
        ),
        {"lake": Expected("parquet", "id bigint, what string", "partition_0, parity", 2)},
    ),
    Layout(
        "line items like those of TPC-H, by year and month",
        by_duck(
            "COPY (SELECT i AS l_orderkey, (i * 1.1)::DECIMAL(15,2) AS l_extendedprice, DATE '1995-01-01' + i::INT AS"
            " l_shipdate, 1995 AS y, i % 3 AS m FROM range(30) t(i)) TO '{root}' (FORMAT parquet, PARTITION_BY (y, m))"
        ),
        {"lake": Expected("parquet", "l_orderkey bigint, l_extendedprice decimal(15,2), l_shipdate date", "y, m", 3)},
    ),
    Layout(
        "CSV of DuckDB with a header",
        by_duck("COPY (SELECT i AS id, i / 2 AS half, i > 1 AS big FROM range(4) t(i)) TO '{root}/x.csv' (HEADER)"),
        {"lake": Expected("csv", "id bigint, half double, big boolean", parameters={"skip.header.line.count": "1"})},
    ),
    Layout(
        "CSV of DuckDB without a header",
        by_duck("COPY (SELECT i AS id, 'n' || i AS name FROM range(4) t(i)) TO '{root}/x.csv' (HEADER false)"),
        {"lake": Expected("csv", "col0 bigint, col1 string")},
    ),
    Layout(
        "JSON of DuckDB, compressed by zstd",
        by_duck("COPY (SELECT i AS id FROM range(4) t(i)) TO '{root}/x.json.zst' (FORMAT json, COMPRESSION zstd)"),
        {"lake": Expected("json (zstd)", "id int", parameters={"compressionType": "zstd"})},
    ),
    Layout(
        "CSV of pandas with missing values",
        pandas_csv,
        {"lake": Expected("csv", "id bigint, price double, name string")},
    ),
    Layout("JSON lines of pandas with arrays", pandas_json, {"lake": Expected("json", "id int, tags array<string>")}),
    Layout(
        "CSV with every value in quotes, commas and line breaks in them",
        quoted_csv("x.csv"),
        {
            "lake": Expected(
                "csv",
                "id bigint, text string",
                parameters={"areColumnsQuoted": "true", "quoteChar": '"', "multiLine": "true"},
            )
        },
    ),
    Layout(
        "CSV of texts only has no header",
        texts({"x.csv": "name,city\nAnn,Bonn\nBob,Rome\n"}),
        {"lake": Expected("csv", "col0 string, col1 string")},
    ),
    Layout(
        "a file of texts takes the header that its neighbour has",
        texts({"a.csv": "id,name\n1,Ann\n", "b.csv": "id,name\n,Bob\n,Cid\n"}),
        {"lake": Expected("csv", "id bigint, name string", parameters={"skip.header.line.count": "1"})},
        reads=False,
    ),
    Layout(
        "a header whose last name is missing, for a delimiter at the end of lines",
        texts({"x.csv": "id,name,\n1,Ann,\n2,Bob,\n"}),
        {"lake": Expected("csv", "id bigint, name string, col2 string")},
        reads=False,
    ),
    Layout(
        "a name of 150 characters is no header",
        texts({"x.csv": f"{'n' * 150},b\n1,2\n3,4\n"}),
        {"lake": Expected("csv", "col0 string, col1 string")},
        reads=False,
    ),
    Layout("tabs", texts({"x.tsv": SALES.replace(",", "\t")}), {"lake": Expected("csv", "id bigint, amount double")}),
    Layout(
        "semicolons with decimal commas in quotes",
        texts({"x.csv": 'id;amount\n1;"1,5"\n2;"2,5"\n'}),
        {"lake": Expected("csv", "id bigint, amount string", parameters={"delimiter": ";"})},
    ),
    Layout(
        "Ctrl-A, as Hive writes text",
        texts({"000000_0": "1\x01Ann\n2\x01Bob\n"}),
        {"lake": Expected("csv", "col0 bigint, col1 string", parameters={"delimiter": "\x01"})},
    ),
    Layout(
        "time stamps and numbers of all kinds",
        texts(
            {
                "x.csv": "at,n,e,big,code\n2026-01-01 10:00:00,1,1e3,99999999999999999999,007\n2026-01-02 11:00:00,-2,.5,1,8\n"
            }
        ),
        {"lake": Expected("csv", "at timestamp, n bigint, e double, big string, code bigint")},
    ),
    Layout(
        "one column is no CSV",
        texts({"x.csv": "a\nb\nc\n"}),
        {"lake": Expected("UNKNOWN", "")},
        left_out=1,
        reads=False,
    ),
    Layout(
        "a custom classifier takes one column, names and types",
        texts({"x.csv": "a\nb\n"}),
        {"lake": Expected("csv", "letter string")},
        classifiers=[
            {
                "CsvClassifier": {
                    "Name": "c",
                    "AllowSingleColumn": True,
                    "ContainsHeader": "ABSENT",
                    "Header": ["letter"],
                }
            }
        ],
    ),
    Layout(
        "a custom classifier with OpenCSVSerDe makes texts",
        texts({"x.csv": "id;name\n1;'a;b'\n"}),
        {"lake": Expected("csv", "id string, name string")},
        classifiers=[
            {
                "CsvClassifier": {
                    "Name": "c",
                    "Delimiter": ";",
                    "QuoteSymbol": "'",
                    "ContainsHeader": "PRESENT",
                    "Serde": "OpenCSVSerDe",
                }
            }
        ],
    ),
    Layout(
        "a custom classifier with types of columns",
        texts({"x.csv": "1,2\n3,4\n"}),
        {"lake": Expected("csv", "a int, b double")},
        classifiers=[
            {
                "CsvClassifier": {
                    "Name": "c",
                    "ContainsHeader": "ABSENT",
                    "Header": ["a", "b"],
                    "CustomDatatypeConfigured": True,
                    "CustomDatatypes": ["INT", "DOUBLE"],
                }
            }
        ],
    ),
    Layout(
        "nested JSON with fields that some records lack",
        texts({"x.json": lines({"id": 1, "in": {"a": 1.5}}, {"id": 2, "in": {"b": [True]}, "t": None})}),
        {"lake": Expected("json", "id int, in struct<a:double,b:array<boolean>>, t string")},
    ),
    Layout(
        "integers beyond 32 bits",
        texts({"x.json": lines({"id": 2**31}, {"id": 1})}),
        {"lake": Expected("json", "id bigint")},
    ),
    Layout(
        "a field of two types is a text",
        texts({"x.json": lines({"id": 1, "v": 1}, {"id": 2, "v": "two"})}),
        {"lake": Expected("json", "id int, v string")},
        reads=False,
    ),
    Layout(
        "JSON documents over several lines",
        texts({"x.json": json.dumps({"id": 1, "name": "a"}, indent=2)}),
        {"lake": Expected("json", "id int, name string", parameters={"multiLine": "true"})},
    ),
    Layout(
        "an array of records is one column without a classifier",
        texts({"x.json": json.dumps([{"id": 1}, {"id": 2}])}),
        {"lake": Expected("json", "array array<struct<id:int>>")},
        reads=False,
    ),
    Layout(
        "an array of records is a table with a path",
        texts({"x.json": json.dumps([{"id": 1}, {"id": 2}])}),
        {"lake": Expected("json", "id int", parameters={"jsonPath": "$[*]"})},
        classifiers=[{"JsonClassifier": {"Name": "j", "JsonPath": "$[*]"}}],
    ),
    Layout(
        "records deep in a document, with a path",
        texts({"x.json": json.dumps({"meta": 1, "data": {"rows": [{"id": 1}, {"id": 2}]}}, indent=1)}),
        {"lake": Expected("json", "id int", parameters={"jsonPath": "$.data.rows[*]"})},
        classifiers=[{"JsonClassifier": {"Name": "j", "JsonPath": "$.data.rows[*]"}}],
    ),
    Layout(
        "Parquet with nested types",
        nested_parquet,
        {
            "lake": Expected(
                "parquet",
                "id int, price decimal(12,2), at timestamp, day date, raw binary, ok boolean, tags array<string>,"
                " by map<string,bigint>, inner struct<x:double,y:struct<z:string>>, small smallint, real float",
                "partition_0",
                1,
            )
        },
    ),
    Layout(
        "Parquet whose files gain a column and widen one",
        columnar(
            {
                "d=1/x.parquet": pa.table({"id": pa.array([1], pa.int32()), "a": [1], "b": ["x"]}),
                "d=2/x.parquet": pa.table({"id": pa.array([2], pa.int64()), "a": [1], "b": ["x"], "c": [1.5]}),
            }
        ),
        {"lake": Expected("parquet", "id bigint, a bigint, b string, c double", "d", 2)},
        reads=False,
    ),
    Layout(
        "ORC",
        columnar({"x.orc": pa.table({"id": [1, 2], "name": ["a", "b"]})}, orc.write_table),
        {"lake": Expected("orc", "id bigint, name string")},
    ),
    Layout(
        "Avro, deflated",
        texts({"x.avro": avro_bytes(PERSON, [{"id": 1, "name": "a"}], "deflate")}),
        {"lake": Expected("avro", "id bigint, name string")},
    ),
    Layout(
        "Avro with a union of several types, of which each file has one",
        texts({f"{n}.avro": avro_bytes(MIXED, [{"id": 1, "value": one}]) for n, one in enumerate((5, "five", None))}),
        {"lake": Expected("avro", "id int, value string")},
    ),
    Layout("Ion, binary", ion_file, {"lake": Expected("ion", "id bigint, name string")}),
    Layout(
        "XML without a classifier: the elements that the root has most of",
        texts({"x.xml": "<r><p id='1'><name>a</name></p><p id='2'><name>b</name></p></r>"}),
        {"lake": Expected("xml", "_id bigint, name string", parameters={"rowTag": "p"})},
    ),
    Layout(
        "XML with a row tag",
        texts({"x.xml": "<a><b><row><n>1</n></row><row><n>2.5</n></row></b></a>"}),
        {"lake": Expected("books", "n double", parameters={"rowTag": "row", "classification": "books"})},
        classifiers=[{"XMLClassifier": {"Name": "x", "Classification": "books", "RowTag": "row"}}],
    ),
    Layout(
        "logs of nginx and Apache with referrer and agent",
        texts({"access.log": f"{COMBINED}\n{COMBINED}\n"}),
        {
            "lake": Expected(
                "combined_apache", ", ".join(f"{one} string" for one in f"{_COMMON_FIELDS} referrer agent".split())
            )
        },
    ),
    Layout(
        "logs of Apache, common",
        texts({"access.log": f"{COMMON}\n"}),
        {"lake": Expected("apache", ", ".join(f"{one} string" for one in _COMMON_FIELDS.split()))},
    ),
    Layout(
        "syslog",
        texts({"messages": "Nov  3 07:00:01 web1 kernel[12]: eth0 up\nNov  3 07:00:02 web1 sshd[9]: bye\n"}),
        {"lake": Expected("linux_kernel", ", ".join(f"{one} string" for one in _SYSLOG.split()))},
    ),
    Layout(
        "logs of Ruby",
        texts({"x.log": "I, [2026-01-01T10:00:00.123456 #42]  INFO -- app: started\n"}),
        {
            "lake": Expected(
                "ruby_logger", "timestamp string, pid string, loglevel string, progname string, message string"
            )
        },
    ),
    Layout(
        "a grok pattern with types and a custom pattern",
        texts({"x.log": "[7] slow 1.5\n[8] fast 0.5\n"}),
        {"lake": Expected("timing", "id int, speed string, secs double")},
        classifiers=[
            {
                "GrokClassifier": {
                    "Name": "g",
                    "Classification": "timing",
                    "GrokPattern": r"\[%{NUMBER:id:int}\] %{SPEED:speed} %{NUMBER:secs:double}",
                    "CustomPatterns": "SPEED slow|fast",
                }
            }
        ],
    ),
    Layout(
        "BZIP2, LZ4 and both framings of Snappy",
        all_of(
            texts({"b/x.csv.bz2": bz2.compress(SALES.encode()), "s/x.csv.snappy": hadoop_snappy(SALES.encode())}),
            lambda root: (root / "l").mkdir(),
            lambda root: (root / "l" / "x.csv.lz4").write_bytes(_lz4(SALES.encode())),
        ),
        {
            name: Expected(f"csv ({word})", "id bigint, amount double")
            for name, word in (("b", "bzip2"), ("s", "snappy"), ("l", "lz4"))
        },
    ),
    Layout(
        "ZIP of one file",
        texts({"x.zip": zip_bytes(**{"x.csv": SALES})}),
        {"lake": Expected("csv (zip)", "id bigint, amount double", parameters={"compressionType": "zip"})},
        reads=False,
    ),
    Layout(
        "gzip without an ending",
        texts({"x": gzip.compress(SALES.encode())}),
        {"lake": Expected("csv (gzip)", "id bigint, amount double")},
    ),
    Layout(
        "output of Spark with its marks",
        spark_output,
        {"lake": Expected("parquet", "id bigint, what string", "partition_0", 1)},
    ),
    Layout(
        "a folder of Delta Lake is a table, with its own columns",
        delta_table,
        {"orders": Expected("delta", "id bigint, day string", parameters={"table_type": "DELTA"})},
        reads=False,
    ),
    Layout(
        "a folder of Iceberg is a table, with its own columns",
        iceberg_table,
        {"clicks": Expected("iceberg", "id bigint, at timestamp", parameters={"table_type": "ICEBERG"})},
        reads=False,
    ),
    Layout("a table of our own jobs", own_table, {"lake": Expected("parquet", "id bigint", "partition_0, day", 2)}),
    Layout(
        "exclusions leave files out",
        texts({"a/x.csv": SALES, "a/notes.tmp": "x\n", "b/x.csv": SALES, "_tmp/x.csv": USERS, ".git/x.csv": USERS}),
        {"lake": Expected("csv", "id bigint, amount double", "partition_0", 1, {"exclusions": '["**.tmp", "b/**"]'})},
        exclusions=["**.tmp", "b/**"],
    ),
    Layout(
        "empty, truncated, encrypted and misnamed files are told and left out",
        all_of(
            texts(
                {
                    "d=1/x.parquet": b"PAR1 cut",
                    "d=2/empty.parquet": b"",
                    "d=2/secret.parquet": b"Salted__12345678",
                    "d=3/really.parquet": b"\x00\x01\x02 not parquet",
                }
            ),
            columnar({f"d={n}/ok.parquet": pa.table({"id": [n]}) for n in (1, 2, 3)}),
        ),
        {"lake": Expected("parquet", "id bigint", "d", 3)},
        left_out=3,
        reads=False,
    ),
    Layout(
        "a CSV that is called .json, and Parquet that is called .csv",
        all_of(texts({"a/x.json": SALES}), columnar({"b/x.csv": pa.table({"id": [1]})})),
        {"a": Expected("csv", "id bigint, amount double"), "b": Expected("parquet", "id bigint")},
    ),
    Layout(
        "hostile names",
        texts(
            {
                "it's a {folder} [x]=1/a b.json": lines({"a,b": 1, "c:d": {"e>f": 1}, "": 2}),
                "it's a {folder} [x]=2/ünï.json": lines({"a,b": 2, "c:d": {"e>f": 1}, "": 3}),
            }
        ),
        {"lake": Expected("json", "a,b int, c:d string, col int", "it's a {folder} [x]", 2)},
        reads=False,
    ),
    Layout("an empty folder", lambda root: (root / "a").mkdir(parents=True), {}),
    Layout("only hidden files", texts({"_SUCCESS": "x", ".hidden/x.csv": SALES}), {}),
    Layout(
        "files that nothing knows",
        columnar({"x.feather": pa.table({"id": [1]})}, feather.write_feather),
        {"lake": Expected("UNKNOWN", "")},
        left_out=1,
        reads=False,
    ),
    Layout(
        "BSON of a dump",
        texts(
            {
                "x.bson": bytes.fromhex("160000001069640001000000026e0002000000610000")
                + bytes.fromhex("160000001069640002000000026e0002000000620000")
            }
        ),
        {"lake": Expected("bson", "id bigint, n string")},
        reads=False,
    ),
)


def _lz4(plain: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "lz4") as file:
        file.write(plain)
    return out.getvalue().to_pybytes()
