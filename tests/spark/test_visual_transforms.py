"""The transforms that Glue Studio packages, on the option orders of the article that presents ten of them."""

from __future__ import annotations

import importlib
import json
from datetime import UTC, datetime, timedelta

import pytest

from awsglue import visual
from gluepot.core.errors import ConfigError

ORDERS = [
    {"order_id": 1679931512485, "symbol": "AMZN", "instrument": "AMZN MAR 24 23 102 PUT", "currency": "usd", "price": 17.18, "exchange": "EDGX", "bought": [18, 38]},
    {"order_id": 1679931512487, "symbol": "BMW.DE", "instrument": "BMW.DE APR 28 23 101 CALL", "currency": "eur", "price": 14.71, "exchange": "XETR", "sold": [9, 59, 54]},
    {"order_id": 1679931512491, "symbol": "NKE", "instrument": "NKE MAR 24 23 112 CALL", "currency": "usd", "price": 3.23, "exchange": "EDGX", "sold": [67]},
    {"order_id": 1679931512492, "symbol": "AMZN", "instrument": "AMZN MAY 26 23 95 CALL", "currency": "usd", "price": 11.44, "exchange": "EDGX", "sold": [41, 62, 12]},
]  # fmt: skip
DAY = datetime(2023, 3, 27, 15, 38, 32, tzinfo=UTC)


@pytest.fixture
def frame(glue_context):
    """A function from JSON documents to a DynamicFrame whose types the records tell."""
    from awsglue import DynamicFrame

    def make(*documents):
        rows = [(json.dumps(document),) for document in documents]
        texts = glue_context.spark_session.createDataFrame(rows, "`$json$data_infer_schema$_temporary$` string")
        return DynamicFrame.fromDF(texts.coalesce(1), glue_context, "documents")

    return make


@pytest.fixture
def table(glue_context):
    """A function from rows and a Spark schema to a DynamicFrame."""
    from awsglue import DynamicFrame

    def make(rows, schema):
        return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "table")

    return make


def rows(frame) -> list[dict]:
    return [row.asDict(recursive=True) for row in frame.toDF().collect()]


def values(frame, column) -> list:
    return [row[column] for row in rows(frame)]


def instants(frame, column) -> list[float | None]:
    """Seconds since 1970, which do not depend on the time zone of this machine."""
    seconds = frame.toDF().selectExpr(f"unix_micros(`{column}`) / 1000000 AS s").collect()
    return [row.s for row in seconds]


def test_the_option_orders_become_what_the_article_shows(frame, glue_context):
    spark = glue_context.spark_session
    spark.createDataFrame([("usd", 1.0), ("eur", 1.09)], "currency string, exchange_rate double").createOrReplaceTempView("rates")  # fmt: skip

    split = frame(*ORDERS).gs_split(colName="instrument", pattern=r"\s+", newColName="instrument_arr")
    columns = split.gs_array_to_cols(
        colName="instrument_arr", colList="month, day, year, strike_price, type", indexes="2, 3, 4, 5, 6"
    )
    year = columns.gs_derived(colName="year", expr="CASE WHEN length(year) = 2 THEN ('20' || year) ELSE year END")
    dated = year.gs_concat(colName="expiration_date", colList=["year", "month", "day"], spacer="-")
    actions = dated.gs_unpivot(nameCol="action", valueCol="contracts", colList=["bought", "sold"])
    contracts = actions.gs_explode(colName="contracts", newCol="contracts")
    summary = contracts.select_fields(["symbol", "type", "contracts"]).gs_pivot(
        aggCol="contracts", aggFunction="sum", colList=["type"]
    )
    orders = (
        contracts.drop_fields(["instrument_arr", "month", "day", "year"])
        .gs_lookup(tableName="rates", keyCols="currency", colList="exchange_rate")
        .gs_derived(colName="total_usd", expr="round(contracts * price * exchange_rate, 2)")
        .gs_now(colName="ingest_date", dateFormat="%Y-%m-%d")
    )

    assert sorted(rows(summary.gs_repartition(numPartitionsStr="1")), key=lambda row: row["symbol"]) == [
        {"symbol": "AMZN", "CALL": 115, "PUT": 56},
        {"symbol": "BMW.DE", "CALL": 122, "PUT": None},
        {"symbol": "NKE", "CALL": 67, "PUT": None},
    ]
    bmw = [row for row in rows(orders) if row["symbol"] == "BMW.DE"]
    today = datetime.now(UTC).date()
    assert {row.pop("ingest_date") for row in bmw} <= {str(today), str(today - timedelta(days=1))}
    assert bmw[0] == {
        "order_id": 1679931512487, "symbol": "BMW.DE", "instrument": "BMW.DE APR 28 23 101 CALL", "currency": "eur",
        "price": 14.71, "exchange": "XETR", "strike_price": "101", "type": "CALL", "expiration_date": "2023-APR-28",
        "action": "sold", "contracts": 9, "exchange_rate": 1.09, "total_usd": 144.31,
    }  # fmt: skip
    assert [row["contracts"] for row in bmw] == [9, 59, 54]


def test_a_null_is_no_text_in_a_concatenation_unless_a_replacement_is_given(table):
    given = table([("a", None, 3)], "x string, y string, z int")

    assert values(given.gs_concat("all", ["x", "y", "z"], spacer="-"), "all") == ["a--3"]
    assert values(given.gs_concat("all", "x, y, z", "-", nullValue="?"), "all") == ["a-?-3"]


def test_a_split_without_a_new_name_replaces_the_text(table):
    assert values(table([("1,2",)], "x string").gs_split(colName="x", pattern=","), "x") == [["1", "2"]]


def test_places_an_array_does_not_have_are_null(table):
    given = table([([1, 2],), (None,)], "`a.b` array<int>")

    assert rows(given.gs_array_to_cols("`a.b`", "one,two,three").select_fields(["one", "three"])) == [
        {"one": 1, "three": None},
        {"one": None, "three": None},
    ]


@pytest.mark.parametrize("indexes", ["1", "0,1", "1,x"])
def test_indexes_that_do_not_go_with_the_names_are_refused(table, indexes):
    with pytest.raises(ConfigError, match=r"indexes .* do not go with colList one, two"):
        table([([1, 2],)], "a array<int>").gs_array_to_cols("a", "one,two", indexes)


@pytest.mark.parametrize(
    ("kind", "given", "second"),
    [
        ("string", "2023-03-27T15:38:32Z", DAY.timestamp()),
        ("string", "1679931512", DAY.timestamp()),
        ("string", " 1679931512485 ", DAY.timestamp() + 0.485),
        ("bigint", 1679931512, DAY.timestamp()),
        ("bigint", 1679931512485, DAY.timestamp() + 0.485),
        ("bigint", 1679931512485001, DAY.timestamp() + 0.485001),
        ("string", "2023", datetime(2023, 1, 1, tzinfo=UTC).timestamp()),
        ("string", "yesterday", None),
        ("date", DAY.date(), datetime(2023, 3, 27, tzinfo=UTC).timestamp()),
    ],
)
def test_a_timestamp_is_recognised_by_form_and_size(table, glue_context, kind, given, second):
    glue_context.spark_session.conf.set("spark.sql.session.timeZone", "UTC")

    found = table([(given,)], f"t {kind}").gs_to_timestamp(colName="t", colType="autodetect", newColName="at")

    assert instants(found, "at") == [second]


@pytest.mark.parametrize(
    ("kind", "given", "second"),
    [
        ("seconds", 12.5, 12.5),
        ("milliseconds", 12500, 12.5),
        ("microseconds", 12500000, 12.5),
        ("seconds", 1e300, None),
    ],
)
def test_numbers_are_counted_in_the_unit_that_is_named(table, kind, given, second):
    assert instants(table([(float(given),)], "t double").gs_to_timestamp("t", kind), "t") == [second]


def test_a_type_of_time_that_is_not_known_is_refused(table):
    with pytest.raises(ConfigError, match="colType is 'hours'; use autodetect, iso, seconds"):
        table([(1,)], "t int").gs_to_timestamp("t", "hours")


def test_a_time_is_written_in_a_format(table):
    given = table([("2023-03-27 15:38:32",), ("never",)], "t string")

    assert values(given.gs_format_timestamp(colName="t", dateFormat="yyyy/MM/dd HH"), "t") == ["2023/03/27 15", None]


def test_a_regular_expression_gives_a_column_for_each_group(table):
    given = table([("ab-12",), ("none",), (None,)], "x string")

    found = given.gs_regex_extract(colName="x", regex=r"(\w+)-(\d+)", newCols="word, number")

    assert [(row["word"], row["number"]) for row in rows(found)] == [("ab", "12"), (None, None), (None, None)]


def test_a_regular_expression_without_groups_gives_the_match(table):
    assert values(table([("4 stars",)], "x string").gs_regex_extract("x", r"^\S*", "n"), "n") == ["4"]


def test_wrong_regular_expressions_are_refused_with_javas_reason(table):
    given = table([("x",)], "x string")

    with pytest.raises(ConfigError, match=r"regex '\(' is not a regular expression of Java: .*Unclosed group"):
        given.gs_regex_extract("x", "(", "y")
    with pytest.raises(ConfigError, match="newCols has 2 names, regex 'x' has 0 groups"):
        given.gs_regex_extract("x", "x", "y, z")


def test_json_becomes_a_struct_with_the_fields_of_all_texts(table):
    given = table([('{"a": 1, "b": {"c": [1]}}',), ('{"a": 2, "d": "x"}',), ("{",), (None,)], "j string")

    assert values(given.gs_parse_json(colName="j"), "j") == [
        {"a": 1, "b": {"c": [1]}, "d": None},
        {"a": 2, "b": None, "d": "x"},
        {"a": None, "b": None, "d": None},
        None,
    ]


def test_a_field_with_several_types_is_text_after_parsing(table):
    given = table([('{"a": 1}',), ('{"a": "x"}',)], "j string")

    assert [value["a"] for value in values(given.gs_parse_json("j", "parsed"), "parsed")] == ["1", "x"]


def test_texts_that_are_no_objects_stay_as_they_are(table):
    assert rows(table([("[1]",)], "j string").gs_parse_json("j")) == [{"j": "[1]"}]


def test_paths_find_their_values_in_texts_and_structs(frame):
    given = frame({"message": '{"log": "x", "pod": {"app": "y"}}', "s": {"k": [7]}})

    found = given.gs_extract_json("message", "log, pod.app, $.no", "log, app, none", dropCol=True)

    assert rows(found) == [{"s": {"k": [7]}, "log": "x", "app": "y", "none": None}]
    assert values(given.gs_extract_json("s", "k[0]", "k"), "k") == ["7"]


def test_null_rows_go_and_blank_ones_when_asked(table):
    given = table([(1, "a", None), (None, None, None), (None, " ", ([], None))], "n int, s string, t struct<a: array<int>, b: string>")  # fmt: skip

    assert len(rows(given.gs_null_rows())) == 2
    assert [row["n"] for row in rows(given.gs_null_rows(extended=True))] == [1]


def test_explode_drops_empty_arrays_unless_they_are_kept(table):
    given = table([(1, ["a", "b"]), (2, []), (3, None)], "n int, x array<string>")

    assert [(row["n"], row["y"]) for row in rows(given.gs_explode("x", "y"))] == [(1, "a"), (1, "b")]
    assert values(given.gs_explode(colName="x", newCol="y", outer=True), "n") == [1, 1, 2, 3]


def test_explode_of_a_map_gives_keys_and_values(table):
    found = table([({"a": 1},)], "m map<string, int>").gs_explode("m", "ignored").drop_fields(["m"])

    assert rows(found) == [{"key": "a", "value": 1}]


@pytest.mark.parametrize(
    ("options", "names"),
    [({}, ["a.b.c", "a.d", "e"]), ({"maxLevels": 1, "separator": "_"}, ["a_b", "a_d", "e"])],
)
def test_flatten_names_fields_by_their_way(frame, options, names):
    assert frame({"a": {"b": {"c": 1}, "d": 2}, "e": [{"f": 1}]}).gs_flatten(**options).toDF().columns == names


def test_an_unpivot_keeps_nulls_when_asked(table):
    given = table([(1, 10, None)], "id int, x int, y int")

    assert rows(given.gs_unpivot("name", "value", "x, y")) == [{"id": 1, "name": "x", "value": 10}]
    assert values(given.gs_unpivot("name", "value", ["x", "y"], includeNulls=True), "value") == [10, None]


def test_several_pivoted_columns_are_joined_in_the_names(table):
    given = table([("a", 1, True, 5), ("a", 2, True, 6), ("b", 1, True, 7)], "k string, n int, f boolean, v int")

    assert sorted(rows(given.gs_pivot("v", "max", ["n", "f"])), key=lambda row: row["k"]) == [
        {"k": "a", "1_true": 5, "2_true": 6},
        {"k": "b", "1_true": 7, "2_true": None},
    ]
    with pytest.raises(ConfigError, match="aggFunction is 'summ'"):
        given.gs_pivot("v", "summ", "n")


def test_a_value_that_is_null_gives_a_pivoted_column_of_that_name(table):
    given = table([("a", None, 1), ("a", "x", 2)], "k string, t string, v int")

    assert rows(given.gs_pivot("v", "sum", "t")) == [{"k": "a", "null": 1, "x": 2}]


def test_a_lookup_maps_keys_and_leaves_unknown_ones_null(table, glue_context):
    users = glue_context.spark_session.createDataFrame([(1, "eu", "Ada")], "id int, region string, name string")
    users.createOrReplaceTempView("users")
    given = table([(1, "eu"), (1, "us")], "user_id int, region string")

    found = given.gs_lookup("users", "user_id=id, region", ["name"])

    assert [(row["region"], row["name"]) for row in rows(found)] == [("eu", "Ada"), ("us", None)]
    with pytest.raises(ConfigError, match="colList has region, which the frame has, too"):
        given.gs_lookup("users", "user_id=id", "region")
    with pytest.raises(ConfigError, match="keyCols is empty"):
        given.gs_lookup("users", "", "name")


def test_identifiers_differ_and_uuids_stay_when_the_frame_is_read_again(table):
    given = table([(n,) for n in range(20)], "n int").gs_identifier().gs_uuid()

    first = rows(given)

    assert len({row["id"] for row in first}) == len({row["uuid"] for row in first}) == 20
    assert rows(given) == first


def test_repartition_takes_a_number_as_text_and_columns(table):
    given = table([(n,) for n in range(20)], "n int")

    assert given.gs_repartition(numPartitionsStr="3").getNumPartitions() == 3
    assert given.gs_repartition("4", "n").getNumPartitions() == 4
    assert given.gs_repartition().getNumPartitions() == 2
    with pytest.raises(ConfigError, match="numPartitionsStr is 'many'"):
        given.gs_repartition("many")


def test_now_is_the_same_for_all_rows_and_reads(table):
    given = table([(1,), (2,)], "n int").gs_now().gs_now("javas", "yyyy-MM-dd")

    (first,) = {row["timestamp"] for row in rows(given)}

    assert {row["timestamp"] for row in rows(given)} == {first}
    assert {len(row["javas"]) for row in rows(given)} == {10}


def test_a_frame_without_columns_stays_as_it_is(frame):
    empty = frame()

    assert empty.gs_derived("x", "no_such_column + 1") is empty


@pytest.mark.parametrize("name", visual.__all__)
def test_a_generated_script_can_import_each_module_and_use_it_on_a_data_frame(glue_context, name):
    importlib.import_module(name)

    assert callable(getattr(glue_context.spark_session.range(1), name))


def test_a_data_frame_has_the_transform_itself(glue_context):
    import gs_derived  # noqa: F401

    assert glue_context.spark_session.range(2).gs_derived("twice", "id * 2").collect()[1].twice == 2
