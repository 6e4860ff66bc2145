"""Streams and bounded reads with `schema`: real columns, both ways equal, broken records kept."""

import json
from collections import Counter
from decimal import Decimal
from io import BytesIO

import duckdb
import fastavro
import pytest

from gluepot.core.errors import ConfigError, NotSupported

SCHEMA = (
    "id BIGINT, who STRUCT<name: STRING, tags: ARRAY<STRING>, born: DATE>, at TIMESTAMP, price DECIMAL(10,2),"
    " counts MAP<STRING, INT>, ratio FLOAT, ok BOOLEAN"
)
DOCUMENTS = [
    {"id": 1, "who": {"name": "ada", "tags": ["x", None], "born": "1815-12-10"}, "at": "2026-11-21T04:00:00.5Z"},
    {"id": 2, "price": 1.005, "counts": {"a": 1, "b": None}, "ratio": 0.5, "ok": True, "undeclared": [1]},
    {"id": 3.5, "who": "nobody", "at": "soon", "price": "12.345", "counts": [], "ok": "yes"},
    {"id": 4, "who": {"name": 7, "tags": ["x", "y"], "born": "1815-12-10T10:00:00"}, "at": 0, "counts": {}},
    {},
]
BROKEN = [b'{"id": 7, "n":', b"", b"[1, 2]", b'{"id": 8}{"id": 9}', b'{"id": "\xff\xfe"}', b"\x00"]


def declared(topic, **more):
    return topic.options(**{"inferSchema": "false", "schema": SCHEMA, **more})


def by_dataframe(job):
    """A function that makes the rows real Spark rows before it makes a DynamicFrame of them."""
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        rows = data_frame.filter("1 = 1")
        assert type(rows) is not type(data_frame)
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "frame"))

    return function


def put_aside(job, folder="checkpoint/gluepot/rejects"):
    """What the DataFrame way rejected, by file."""
    files = sorted((job.folder / folder).glob("*.rejects"))
    found = {file.name: duckdb.sql(f"SELECT * FROM read_parquet('{file}')") for file in files}
    return {
        name: [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()] for name, rows in found.items()
    }


@pytest.fixture
def second_job(job, tmp_path):
    return type(job)(job.glue_context, tmp_path / "second")


@pytest.fixture
def mixed(topic):
    topic.send_json(*DOCUMENTS * 20)
    topic.send(*BROKEN, None)
    topic.send_json(*reversed(DOCUMENTS))
    return topic


def test_both_ways_give_equal_rows_and_equal_rejects(mixed, job, second_job):
    (fast,) = job.drain(declared(mixed))
    (slow,) = second_job.drain(declared(mixed), by_dataframe(second_job))

    assert job.documents() == second_job.documents()
    assert len(job.documents()) == 21 * len(DOCUMENTS)
    aside = [reject for rejects in put_aside(second_job).values() for reject in rejects]
    assert Counter((r["raw"], r["position"]) for r in aside) == Counter(
        (r["raw"], r["position"]) for r in job.rejects()
    )
    assert Counter(r["raw"] for r in aside) == Counter([*BROKEN, None])
    assert fast.rejected == slow.rejected
    assert sum(fast.rejected.values()) == len(BROKEN) + 1
    assert fast.misfits == dict.fromkeys(("id", "who", "at", "counts", "ok"), 21)


def test_the_columns_have_the_declared_types(mixed, job):
    from pyspark.sql.types import StructType

    seen = {}

    def function(data_frame, batch_id):
        from awsglue import DynamicFrame

        job.copy(data_frame, batch_id)
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        seen.update(frame=data_frame.schema, fast=frame.toDF().schema)

    job.drain(declared(mixed), function)

    assert seen["frame"] == seen["fast"] == StructType.fromDDL(SCHEMA)
    described = duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{job.table}/*.parquet')").fetchall()
    types = {name: kind for name, kind, *_ in described}
    assert types == {
        "id": "BIGINT",
        "who": 'STRUCT("name" VARCHAR, tags VARCHAR[], born DATE)',
        "at": "TIMESTAMP WITH TIME ZONE",
        "price": "DECIMAL(10,2)",
        "counts": "MAP(VARCHAR, INTEGER)",
        "ratio": "FLOAT",
        "ok": "BOOLEAN",
    }


def test_the_fast_way_puts_no_row_into_spark(mixed, job):
    seen = []

    def function(data_frame, batch_id):
        job.copy(data_frame, batch_id)
        seen.append((data_frame.count(), data_frame.rows_read))

    job.drain(declared(mixed), function)

    assert seen == [(21 * len(DOCUMENTS), False)]
    assert put_aside(job) == {}


def test_rejects_of_the_dataframe_way_are_named_by_topic_partition_and_offsets(topic, job):
    topic.send_json({"id": 1}, {"id": 2}, partition=1)
    topic.send(b"{broken", partition=1)

    def function(data_frame, batch_id):
        assert (len(data_frame.collect()), data_frame.count(), data_frame.isEmpty()) == (2, 2, False)
        assert len(data_frame.collect()) == 2  # a second action writes the same file again

    (stats,) = job.drain(declared(topic, persistDataFrame="false"), function)

    ((name, (reject,)),) = put_aside(job).items()
    assert name == f"{topic.name}-1-0-3.rejects"
    assert reject.pop("message").startswith("The record is not JSON")
    assert reject == {
        "raw": b"{broken",
        "stream": topic.name,
        "shard": "1",
        "position": "2",
        "reason": "malformed_json",
    }
    assert stats.rejected == {"malformed_json": 1}


def test_rejects_of_the_dataframe_way_go_where_the_option_says(topic, job, tmp_path):
    topic.send(b"{broken", b'{"id": 1}', partition=0)

    job.drain(declared(topic, rejectsPath=str(tmp_path / "aside")), by_dataframe(job))

    assert list(put_aside(job, "aside")) == [f"{topic.name}-0-0-2.rejects"]


def test_to_df_of_the_fast_way_gives_the_rows_and_the_rejects_of_the_dataframe_way(mixed, job):
    from awsglue import DynamicFrame

    seen = []

    def function(data_frame, batch_id):
        fast = DynamicFrame.fromDF(data_frame, job.glue_context, "fast")
        frames = data_frame, fast.toDF(), fast.rename_field("id", "key").toDF().withColumnRenamed("key", "id")
        seen.extend(Counter(frame.select(*sorted(frame.columns)).toJSON().collect()) for frame in frames)

    job.drain(declared(mixed), function)

    assert seen[0] == seen[1] == seen[2]
    assert sum(map(len, put_aside(job).values())) == len(BROKEN) + 1


def test_a_batch_of_broken_records_only_reaches_the_function_and_the_rejects(topic, job):
    topic.send(*BROKEN)

    def function(data_frame, batch_id):
        assert data_frame.isEmpty()
        job.copy(data_frame, batch_id)

    (stats,) = job.drain(declared(topic), function)

    assert Counter(r["raw"] for r in job.rejects()) == Counter(BROKEN)
    assert stats.rows_out == 0


def test_headers_and_timestamps_stand_beside_the_declared_columns_on_both_ways(topic, job, second_job):
    topic.send(b'{"id": 1}', b"{broken", b'{"id": 2}', headers=[("trace", b"abc")], partition=0)
    options = declared(topic, schema="id INT", includeHeaders="true", addRecordTimestamp="true")

    job.drain(options)
    second_job.drain(options, by_dataframe(second_job))

    assert job.documents() == second_job.documents()
    wanted = "id, glue_streaming_kafka_headers[1].key, __src_timestamp IS NOT NULL"
    assert job.rows(wanted) == [(1, "trace", True), (2, "trace", True)]


def test_csv_lines_become_declared_columns_on_both_ways(topic, job, second_job):
    broken = [b"", b'3|"open|2', b"4|\xff|1"]
    topic.send(b"1|x,y|2.5", b'2|"a ""b"" | c"|soon', *broken, b"5|z", partition=0)
    options = declared(topic, classification="csv", delimiter="|", schema="id INT, t STRING, d DOUBLE")

    job.drain(options)
    second_job.drain(options, by_dataframe(second_job))

    assert (
        job.rows("id, t, d") == second_job.rows("id, t, d") == [(1, "x,y", 2.5), (2, 'a "b" | c', None), (5, "z", None)]
    )
    aside = [reject["raw"] for rejects in put_aside(second_job).values() for reject in rejects]
    assert Counter(aside) == Counter(r["raw"] for r in job.rejects()) == Counter(broken)


@pytest.mark.parametrize("option", ["schema", "avroSchema"])
def test_avro_datums_become_the_columns_of_their_schema_on_both_ways(topic, job, second_job, option):
    amount = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    fields = {"id": "long", "name": ["null", "string"], "amount": amount, "counts": {"type": "map", "values": "int"}}
    schema = {"type": "record", "name": "Click", "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}
    datums = []
    for click in ({"id": 1, "name": "ada", "counts": {"a": 1}}, {"id": 2, "name": None, "counts": {}}):
        out = BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {**click, "amount": Decimal("1.25")})
        datums.append(out.getvalue())
    broken = [b"", datums[0] + b"\0"]
    topic.send(*datums, *broken, partition=0)
    options = topic.options(inferSchema="false", classification="avro", **{option: json.dumps(schema)})

    job.drain(options)
    second_job.drain(options, by_dataframe(second_job))

    assert job.rows("id, name, amount") == [(1, "ada", Decimal("1.25")), (2, None, Decimal("1.25"))]
    assert job.documents() == second_job.documents()
    aside = [reject["raw"] for rejects in put_aside(second_job).values() for reject in rejects]
    assert Counter(aside) == Counter(r["raw"] for r in job.rejects()) == Counter(broken)


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"schema": "id NUMBER OF THINGS"}, ConfigError, "schema is 'id NUMBER OF THINGS', which Spark cannot read"),
        ({"schema": "id INTERVAL DAY"}, ConfigError, "id"),
        ({"schema": "id INT, __src_timestamp DATE", "addRecordTimestamp": "true"}, ConfigError, "__src_timestamp"),
        ({"classification": "csv", "schema": "l ARRAY<INT>"}, ConfigError, "Field l of the schema"),
        ({"classification": "avro"}, ConfigError, "no Avro schema"),
        ({"classification": "xml"}, NotSupported, "a schema with classification 'xml'"),
        ({"classification": "csv", "inferSchema": "true"}, NotSupported, "inferSchema with classification 'csv'"),
    ],
)
def test_what_cannot_be_decoded_is_refused_before_data_flows(topic, job, options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        job.glue_context.create_data_frame.from_options(
            connection_type="kafka", connection_options=declared(topic, **options)
        )


def bounded(job, options):
    return job.glue_context.create_dynamic_frame.from_options(connection_type="kafka", connection_options=options)


def test_a_bounded_read_of_everything_holds_the_records_up_to_now(topic, job):
    topic.send_json({"id": 1, "v": "a"}, {"id": 2, "v": 7})
    topic.send(b"{broken")

    frame = bounded(job, topic.options())
    topic.send_json({"id": 3})
    job.write(frame)

    assert frame.count() == 2
    assert job.rows("id, v") == [(1, "a"), (2, "7")]
    assert [reject["raw"] for reject in job.rejects()] == [b"{broken"]


def test_a_bounded_read_takes_start_and_end_per_partition(topic, job):
    topic.send_json(*({"id": n} for n in range(5)), partition=0)
    topic.send_json(*({"id": n} for n in range(10, 15)), partition=1)
    limits = {
        "startingOffsets": json.dumps({topic.name: {"0": 3, "1": -2}}),
        "endingOffsets": json.dumps({topic.name: {"0": -1, "1": 2}}),
    }

    rows = bounded(job, topic.options(**limits)).toDF().collect()

    assert sorted(row.id for row in rows) == [3, 4, 10, 11]


def test_a_bounded_read_with_a_schema_has_its_columns_and_keeps_broken_records(mixed, job):
    from pyspark.sql.types import StructType

    frame = bounded(job, declared(mixed))
    job.write(frame)

    assert frame.toDF().schema == StructType.fromDDL(SCHEMA)
    assert frame.count() == frame.toDF().count() == 21 * len(DOCUMENTS)
    assert len(job.documents()) == 21 * len(DOCUMENTS)
    assert Counter(r["raw"] for r in job.rejects()) == Counter([*BROKEN, None])
