"""Push-down predicates take what a WHERE clause of Spark SQL takes, over the values of partitions."""

from __future__ import annotations

import json

import pytest

from awsglue.data_catalog import current_catalog
from gluepot.bookmarks import jobrun
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.errors import ConfigError

KEYS = {"year": "string", "month": "string", "day": "date", "n": "int", "id": "bigint"}
VALUES = {
    1: ("2021", "01", "2021-01-05", "5", "9007199254740993"),
    2: ("2021", "1", "2021-01-09", "9", "2"),
    3: ("2021", "10", "2021-10-10", "10", "3"),
    4: ("2022", "a_b", "2022-02-28", "x", "4"),
    5: ("__HIVE_DEFAULT_PARTITION__", "03", "2021-03-01", "1", "5"),
}
CHOSEN = {
    "date_format(day, 'E') in ('Sat', 'Sun')": [2, 3],
    "day > date '2021-01-09'": [3, 4, 5],
    "day = '2021-01-09'": [2],
    "to_date(day) > date_sub(current_date(), 90000)": [1, 2, 3, 4, 5],
    "month rlike '^0'": [1, 5],
    "substr(month, 1, 1) = '0' and year is not null": [1],
    r"month like 'a\\_b'": [4],
    "month like 'a/_%' escape '/'": [4],
    "month like '0%'": [1, 5],
    "id = 9007199254740993": [1],
    "id > 9007199254740992": [1],
    "cast(month as string) = '1' or n > 9": [2, 3],
    "n is null": [4],
    "n between 5 and 9": [1, 2],
    "coalesce(year, 'none') = 'none'": [5],
    "MONTH in ('01', '1')": [1, 2],
    "year = '2021' and not month = '01' -- a comment": [2, 3],
}
REFUSED = {
    "yeer = '2021'": "`yeer` cannot be resolved",
    "year ==": "Syntax error",
    "length(year, 2) > 1": "requires 1 parameters",
    "year = '2021') or (true": "Syntax error",
    "year": "is not a boolean",
    "row_number() over (order by year) = 1": "window functions inside WHERE",
}


@pytest.fixture(scope="module")
def read(glue_context, tmp_path_factory):
    folder = tmp_path_factory.mktemp("partitions")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GLUEPOT_STATE", str(folder / "state"))
        environment.delenv("GLUEPOT_CATALOG", raising=False)
        catalog = current_catalog()
        catalog.add_database(Database("web"))
        storage = {**new_storage("json", str(folder / "in")).body, "Columns": [{"Name": "number", "Type": "bigint"}]}
        keys = [{"Name": name, "Type": kind} for name, kind in KEYS.items()]
        parameters = {"classification": "json"}
        table = Table("web", "t", {"StorageDescriptor": storage, "PartitionKeys": keys, "Parameters": parameters})
        assert catalog.add_table(table)
        for number, values in VALUES.items():
            path = folder / "in" / "/".join(f"{name}={value}" for name, value in zip(KEYS, values, strict=True))
            path.mkdir(parents=True)
            (path / "a.json").write_text(json.dumps({"number": number}))
            catalog.add_partitions(table, [Partition(values, {"StorageDescriptor": {"Location": str(path)}})])

        def numbers(predicate, *, of_files=False, **options):
            if of_files:
                frame = glue_context.create_dynamic_frame.from_options(
                    "s3", {"paths": [str(folder / "in")]}, format="json", push_down_predicate=predicate
                )
            else:
                frame = glue_context.create_dynamic_frame.from_catalog(
                    "web", "t", push_down_predicate=predicate, additional_options=options
                )
            return sorted(row.number for row in frame.toDF().collect())

        yield numbers
        jobrun.end("the test ended")


def test_partitions_of_a_table_are_chosen(read):
    assert {text: read(text) for text in CHOSEN} == CHOSEN
    assert read("", catalogPartitionPredicate="n > 9") == [3]
    assert read("month rlike '^0'", catalogPartitionPredicate="n < 5") == [5]


def test_values_of_folders_are_strings(read):
    assert read("day rlike '^2021-01' and length(month) = 2", of_files=True) == [1]
    assert read("day < current_date and month = '10'", of_files=True) == [3]
    assert read("try_cast(n as int) > 5 and nothing is null", of_files=True) == [2, 3]


@pytest.mark.parametrize("text", REFUSED)
def test_a_predicate_without_a_meaning_is_an_error_of_one_sentence(read, text):
    with pytest.raises(ConfigError, match=REFUSED[text]) as refused:
        read(text)

    assert "\n" not in str(refused.value)
