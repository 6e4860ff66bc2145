"""Which partitions an expression or a segment chooses."""

from hashlib import sha256

import pytest

from gluepot.catalog.values import Partition, Table
from gluepot.core.errors import ConfigError
from gluepot.service.errors import ServiceError
from gluepot.service.partition_expressions import in_segment, partition_filter

KEYS = {"name": "string", "n": "int", "price": "decimal(10,2)", "day": "date", "at": "timestamp", "flag": "boolean"}
TABLE = Table("web", "clicks", {"PartitionKeys": [{"Name": name, "Type": kind} for name, kind in KEYS.items()]})
PARTITION = Partition(("a'b", "10", "2.50", "2026-03-04", "2026-03-04 05:06:07", "true"), {})


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "  ",
        "n = 10",
        "n = '10'",
        "n > '9' AND n < '11'",
        "N BETWEEN 9 AND 10",
        "price between 2.4e0 AND 25E-1",
        "price < 1e+300",
        "n BETWEEN (9) AND ((10))",
        "(n) = (10) and ((n)) in ((1), (10))",
        "NOT ((n) = 1)",
        "((n = 10) OR (n) = 1)",
        "n in (1, 10)",
        "NOT (n <> 10)",
        "name = 'a''b'",
        "name LIKE 'a%'",
        "name is not null",
        "price = 2.5",
        "price > '2.4999'",
        "day = '2026-03-04' or n = 1",
        "day >= '2026-03-01'",
        "at = '2026-03-04 05:06:07'",
        "at = '2026-03-04 05:06:07.000'",
        "at > '2026-03-04 05:06:06.999999999' and at < '2026-03-04 05:06:07.000000001'",
    ],
)
def test_values_are_compared_by_the_types_of_their_keys(expression):
    assert partition_filter(TABLE, expression)(PARTITION)


@pytest.mark.parametrize(
    "expression", ["n < '9'", "price < 2.5", "day < '2026-03-04'", "name is null", "n not in (10)", "name like 'b%'"]
)
def test_other_partitions_are_left_out(expression):
    assert not partition_filter(TABLE, expression)(PARTITION)


def test_the_default_partition_of_hive_is_null():
    null = Partition(("a", "__HIVE_DEFAULT_PARTITION__"), {})
    assert partition_filter(TABLE, "n is null")(null)
    assert not partition_filter(TABLE, "n <> 1")(null)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("id = 1", "Invalid partition expression! id is no partition key of web.clicks, which has name, n,"),
        ("id is null", "Invalid partition expression!"),
        ("flag = true", "Unknown type : 'boolean' of flag"),
        ("n = 'x'", '"x" is not an integer'),
        ("n in (1, 2.5)", '"2.5" is not an integer'),
        ("n between 1 and 1e2", '"1E\\+2" is not an integer'),
        ("'NaN' = price", '"NaN" is not a decimal'),
        ("day = '2026-02-30'", '"2026-02-30" is not a date'),
        ("day = '20260102'", '"20260102" is not a date'),
        ("at = '2026-03-04'", '"2026-03-04" is not a timestamp'),
        ("at > '2026-03-04T05:06:07'", "is not a timestamp"),
        ("n LIKE '1%'", "Integral data type doesn't support operation 'LIKE'"),
        ("day not like '1%'", "Date data type doesn't support operation 'LIKE'"),
    ],
)
def test_other_columns_and_types_are_refused(expression, told):
    with pytest.raises(ServiceError, match=told):
        partition_filter(TABLE, expression)


def test_a_partition_whose_value_is_none_of_the_type_is_told():
    wrong = Partition(("a", "ten"), {})
    assert partition_filter(TABLE, "name = 'a'")(wrong)
    with pytest.raises(ServiceError, match='"ten" is not an integer') as told:
        partition_filter(TABLE, "n = 10")(wrong)
    assert told.value.code == "InvalidStateException"


def test_what_is_no_expression_is_an_error():
    with pytest.raises(ConfigError, match="is not understood"):
        partition_filter(TABLE, "n = ")


@pytest.mark.parametrize("total", range(1, 11))
def test_each_partition_is_in_one_segment(total):
    for number in range(100):
        digest = sha256(str(number).encode()).hexdigest()
        segments = [{"SegmentNumber": at, "TotalSegments": total} for at in range(total)]
        assert sum(in_segment(digest, segment) for segment in segments) == 1


def test_a_segment_beyond_the_last_one_is_refused():
    with pytest.raises(ServiceError, match="the last one is 1"):
        in_segment("00" * 32, {"SegmentNumber": 2, "TotalSegments": 2})
