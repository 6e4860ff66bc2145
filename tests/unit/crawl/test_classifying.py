"""Rules for texts: cells, headers, delimiters, similarity, names, globs; and files that mean harm."""

import gzip
import io
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.crawl.classify.builtin import classify
from gluepot.crawl.classify.cells import cell_type, column_type
from gluepot.crawl.classify.csv_text import Dialect, csv_shape
from gluepot.crawl.classify.custom import read_classifier
from gluepot.crawl.classify.head import HEAD_BYTES, MOST_BYTES, read_head
from gluepot.crawl.names import partition_keys, partition_value, table_name
from gluepot.crawl.schemas import catalog_columns, hive_type, merged, similarity
from gluepot.crawl.settings import Target, crawl_settings

TREE = (
    "departments/finance.json",
    "departments/market-us.json",
    "departments/market-emea.json",
    "departments/market-ap.json",
    "employees/hr.json",
    "employees/john.csv",
    "employees/jane.csv",
    "employees/juan.txt",
)


def head_of(data: bytes, name: str = "x"):
    return read_head(lambda: io.BytesIO(data), name, f"/lake/{name}", len(data))


def found(data: bytes, name: str = "x", customs=()):
    return classify(head_of(data, name), [read_classifier(one) for one in customs])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ""),
        ("7", "bigint"),
        ("-7", "bigint"),
        ("9223372036854775807", "bigint"),
        ("9223372036854775808", "string"),
        ("1.5", "double"),
        (".5", "double"),
        ("1e10", "double"),
        ("1,5", "string"),
        ("true", "boolean"),
        ("FALSE", "boolean"),
        ("yes", "string"),
        ("2026-01-31", "date"),
        ("2026-13-01", "string"),
        ("31.01.2026", "string"),
        ("2026-01-31 23:59:59", "timestamp"),
        ("2026-01-31T23:59:59.123Z", "timestamp"),
        ("2026-01-31 25:00:00", "string"),
        ("NaN", "string"),
    ],
)
def test_a_cell_has_the_type_of_its_text(text, kind):
    assert cell_type(text) == kind


def test_a_column_has_the_type_that_all_its_cells_have():
    assert column_type(["1", "", "2.5"]) == "double"
    assert column_type(["1", "true"]) == "string"
    assert column_type([None, ""]) == ""


@given(st.lists(st.sampled_from(["", "1", "1.5", "x", "true", "2026-01-01"])))
def test_the_order_of_cells_does_not_matter(cells):
    assert column_type(cells) == column_type(cells[::-1])


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("id,name\n1,a\n", True),
        ("id,name\na,b\n", False),  # all columns are texts
        ("1,2\n3,4\n", False),  # numbers are no names
        ("id,\n1,a\n", True),  # the last name may be missing
        (",id\na,1\n", False),  # another one may not
        (f"id,{'n' * 149}\n1,a\n", True),
        (f"{'n' * 150},id\na,1\n", False),
        ("2026-01-01,id\n2026-01-02,1\n", False),
    ],
)
def test_a_header_is_taken_by_the_rules_of_glue(text, header):
    shape = csv_shape(text, Dialect())
    assert shape is not None
    assert shape.has_header == header


def test_prose_is_no_csv():
    assert csv_shape("Dear all, this is a text.\nIt has, here, some commas, but no columns.\nBye\n", Dialect()) is None


def test_lines_that_do_not_fit_are_tolerated_up_to_a_tenth():
    lines = ["id,n", *(f"{n},{n}" for n in range(20)), "broken"]
    shape = csv_shape("\n".join(lines), Dialect())
    assert shape is not None
    assert (shape.schema.names, shape.rows) == (["id", "n"], 20)


def schema(**types):
    return pa.schema(list(types.items()))


def test_similarity_is_the_share_of_common_columns():
    left = schema(a=pa.int64(), b=pa.string(), c=pa.string())
    assert similarity(left, left) == 1.0
    assert similarity(left, schema(A=pa.float64(), b=pa.string(), c=pa.null())) == 1.0
    assert similarity(left, schema(a=pa.int64(), b=pa.string(), d=pa.string())) == 0.5
    assert similarity(left, schema(a=pa.string(), b=pa.string(), c=pa.string())) == pytest.approx(2 / 3)
    assert similarity(schema(), schema()) == 1.0


TYPES = st.sampled_from(
    [pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.null(), pa.list_(pa.int64())]
)
SCHEMAS = st.lists(st.tuples(st.sampled_from("abcdeABC"), TYPES), max_size=5, unique_by=lambda one: one[0].lower()).map(
    pa.schema
)


@given(SCHEMAS, SCHEMAS)
def test_similarity_is_symmetric_and_within_bounds(left, right):
    assert similarity(left, right) == similarity(right, left)
    assert 0.0 <= similarity(left, right) <= 1.0


@given(SCHEMAS, SCHEMAS)
def test_a_merge_holds_the_columns_of_both_and_merges_once(left, right):
    both = merged([left, right])
    assert {name.lower() for name in both.names} == {name.lower() for name in (*left.names, *right.names)}
    assert [hive_type(one) for one in merged([both, right])] == [hive_type(one) for one in both]


@given(st.text(max_size=8))
def test_a_type_in_the_catalog_can_be_read_again_whatever_its_fields_are_called(name):
    from gluepot.frames.schema.hive_types import arrow_of_hive

    kind = hive_type(pa.field("x", pa.struct([pa.field(name, pa.int64())])))
    assert pa.types.is_struct(arrow_of_hive(kind)) or kind == "string"


def test_columns_of_one_name_are_told_apart_by_place_and_joined_by_name():
    twins = pa.schema([("A", pa.int64()), ("a", pa.string()), ("day", pa.int64())])
    by_place = catalog_columns(twins, by_place=True, keys=["day"])
    assert [(one["Name"], one["Type"]) for one in by_place] == [("a", "bigint"), ("a_1", "string"), ("day_1", "bigint")]
    assert catalog_columns(twins, by_place=False, keys=["day"]) == [{"Name": "a", "Type": "string"}]


def test_names_of_keys_and_tables():
    assert partition_keys([["year=2025", "year=2026"], ["01", "02"], ["x=1"]]) == ["year", "partition_0", "x"]
    assert partition_keys([["a=1", "b=1"]]) == ["partition_0"]
    assert partition_keys([["day=1"], ["day=2"]]) == ["day", "partition_0"]
    assert partition_value("city", "city=New%20York") == "New York"
    assert partition_value("partition_0", "2026") == "2026"
    assert table_name("raw_", "My.Table-1") == "raw_my_table_1"
    assert len(table_name("", "x" * 300)) == 128


@pytest.mark.parametrize(
    ("glob", "left_out"),
    [
        ("departments/**", TREE[:4]),
        ("departments/market*", TREE[1:4]),
        ("**.csv", TREE[5:7]),
        ("employees/*.csv", TREE[5:7]),
        ("*.csv", ()),
        ("employees/j{ohn,ane}.csv", TREE[5:7]),
        ("departments/market-[!a-e]*.json", (TREE[1],)),
        ("employees/????.csv", TREE[5:7]),
        ("market-us.json", ()),
    ],
)
def test_exclusions_are_relative_to_the_target(glob, left_out):
    target = Target("/lake", (glob,))
    assert tuple(key for key in TREE if target.excludes(key)) == left_out


def test_the_exclusion_of_hours_in_the_guide_of_glue():
    target = Target("/lake", ("2015/01/{[!0],0[8-9]}**",))
    days = [f"2015/01/{day:02}/x" for day in range(1, 32)]
    assert [key for key in days if not target.excludes(key)] == days[:7]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Salted__abc", "encrypted by OpenSSL"),
        (b"age-encryption.org/v1", "encrypted by age"),
        (b"PARExxxx", "encrypted footer"),
        (b"PAR1xxxx", "a Parquet file that cannot be read"),
        (b"ORCxxxx", "a ORC file that cannot be read"),
        (b"Obj\x01xxxx", "an Avro file that ends early"),
        (gzip.compress(b"x" * 100, mtime=0)[:-12], "damaged or was not written to its end"),
        (gzip.compress(b"PAR1 in gzip", mtime=0), "compressed by gzip around a format"),
    ],
)
def test_what_begins_as_a_format_and_is_none_is_told(data, said):
    with pytest.raises(PermanentError, match=said):
        found(data)


def test_zip_archives_of_several_files_are_told():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", "1,2\n")
        archive.writestr("b.csv", "1,2\n")
    with pytest.raises(PermanentError, match="ZIP archive of 2 files"):
        found(out.getvalue())


def test_only_heads_are_read():
    read = []

    class Counted(io.BytesIO):
        def read(self, size=-1):
            data = super().read(size)
            read.append(len(data))
            return data

    data = b'{"id": 1, "name": "Ann"}\n' * 400_000
    head = read_head(lambda: Counted(data), "x", "/lake/x", len(data))
    said = classify(head)
    assert said.kind is not None
    # Integers beyond the head may be larger.
    assert [str(one.type) for one in said.kind.schema] == ["int64", "string"]
    assert sum(read) <= 2 * HEAD_BYTES


def test_a_large_document_is_read_up_to_ten_megabytes():
    data = b'[{"id": 1, "text": "' + b"x" * (3 << 20) + b'"}, ' + b'{"id": 2}, ' * 2_000_000 + b'{"id": 3}]'
    said = found(data)
    assert said.kind is not None
    assert hive_type(said.kind.schema.field("array")) == "array<struct<id:bigint,text:string>>"
    endless = found(b'{"text": "' + b"x" * (MOST_BYTES + 10) + b'"}')
    assert not endless.kind.is_known


@pytest.mark.parametrize(
    "data",
    [
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"<a>" * 50_000,
        b"\x00" * 1000,
        b"," * 50_000 + b"\n" + b"," * 50_000,
        b'"' * 10_000,
        b"\xff\xfe" + "id,name\n1,a\n".encode("utf-16-le"),
        b"<!DOCTYPE html><html></html>",
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><a><b>&x;</b></a>',
        b"\xe0\x01\x00\xea\xff\xff",
        b"\x10\x00\x00\x00\x02" + b"\xff" * 11,
    ],
)
def test_what_means_harm_ends_in_time_and_in_words(data):
    try:
        said = found(data)
    except PermanentError:
        return
    assert said.kind is None or said.kind.classification


def test_of_a_bomb_only_the_head_is_unpacked():
    head = head_of(gzip.compress(b"\0" * (64 << 20), mtime=0))
    assert (len(head.data), head.is_whole) == (HEAD_BYTES, False)


def test_the_least_uncertain_classifier_wins_only_where_no_built_in_one_knows():
    half = {"GrokClassifier": {"Name": "g", "Classification": "half", "GrokPattern": r"\[%{INT:n:int}\]"}}
    assert found(b"[1]\nnothing here\n", customs=[half]).kind.classification == "half"
    assert found(b"id,n\n1,2\n3,4\n", customs=[half]).kind.classification == "csv"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "A classifier has no kind"),
        ({"GrokClassifier": {"Name": "g", "Classification": "c"}}, "has no GrokPattern"),
        ({"XMLClassifier": {"Name": "x", "Classification": "c"}}, "has no RowTag"),
        ({"JsonClassifier": {"Name": "j", "JsonPath": "$.a.b["}}, "jsonPath"),
        ({"CsvClassifier": {"Name": "c", "Delimiter": "--"}}, "different single characters"),
        ({"CsvClassifier": {"Name": "c", "CustomDatatypeConfigured": True, "CustomDatatypes": ["NUMBER"]}}, "NUMBER"),
        ({"CsvClassifier": {"Name": "c", "ContainsHeader": "MAYBE"}}, "ContainsHeader"),
    ],
)
def test_a_classifier_that_cannot_classify_is_refused(given, said):
    with pytest.raises(ConfigError, match=said):
        read_classifier(given)


def test_the_settings_of_the_configuration_are_read():
    text = (
        '{"Version": 1.0, "CrawlerOutput": {"Tables": {"AddOrUpdateBehavior": "MergeNewColumns", "TableThreshold": 7},'
        ' "Partitions": {"AddOrUpdateBehavior": "InheritFromTable"}}, "CreatePartitionIndex": false,'
        ' "Grouping": {"TableGroupingPolicy": "CombineCompatibleSchemas", "TableLevelConfiguration": 2}}'
    )
    targets = {"S3Targets": [{"Path": "s3://lake/a"}], "DeltaTargets": [{"DeltaTables": ["s3://lake/d"]}]}
    read = crawl_settings({"Name": "n", "DatabaseName": "Web", "Targets": targets, "Configuration": text})
    assert (read.merge_new_columns, read.inherit, read.combine, read.partition_index) == (True, True, True, False)
    assert (read.table_level, read.table_threshold, read.database) == (2, 7, "web")
    assert [one.url for one in read.targets] == ["s3://lake/a", "s3://lake/d"]
