"""What looks like a mistake in a write, from what its tasks report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gluepot.connectors.values import ManifestPart, MissingFields, StagedFile
from gluepot.engine.suspicion import Suspicion, suspicions


def part(**fields):
    return ManifestPart(rows_in=100, rows_out=100, **fields)


def missing(*wanted, names=("id", "country")):
    return MissingFields(frozenset(wanted), frozenset(names))


def file(folder, rows=5, rejects=False):
    return StagedFile("staged", f"{folder}part-1.parquet", 10, rows, 0, rejects)


def test_a_field_that_no_record_has_is_named_with_the_nearest_column():
    parts = [part(missing=missing("coutnry", "id")), part(missing=missing("coutnry")), part()]

    assert suspicions(parts, [], []) == [Suspicion("field_not_found", "coutnry", "Did you mean 'country'?")]


def test_a_field_to_remove_is_named_only_if_there_is_a_near_one():
    def dropped(name: str) -> ManifestPart:
        return part(missing=replace(missing(name, names=["email", "line_1"]), optional=frozenset({name})))

    assert suspicions([dropped("emial")], [], []) == [Suspicion("field_not_found", "emial", "Did you mean 'email'?")]
    assert suspicions([dropped("comment"), dropped("comment")], [], []) == []
    assert suspicions([dropped("line_2")], [], []) == []


def test_a_field_that_one_step_removes_and_another_one_takes_is_missed():
    both = missing("x").or_of(replace(missing("x", "y"), optional=frozenset({"x", "y"})))
    assert (both.wanted, both.optional) == ({"x", "y"}, {"y"})


def test_a_field_that_some_records_have_is_none():
    assert suspicions([part(missing=missing("city")), part(missing=missing())], [], []) == []


def test_without_a_near_name_the_columns_are_listed():
    (found,) = suspicions([part(missing=missing("x"))], [], [])
    assert found.hint == "other fields: country, id"


def test_rows_that_are_all_in_the_default_partition_of_a_key():
    default = "coutnry=__HIVE_DEFAULT_PARTITION__/"
    parts = [part(files=[file(default), file(f"day=1/{default}", 7), file("_rejects/", 3, rejects=True)])]

    assert suspicions(parts, ["id", "country"], ["day", "coutnry"]) == [
        Suspicion("all_rows_in_the_default_partition", "coutnry", "no row has this column. Did you mean 'country'?", 12)
    ]
    (found,) = suspicions(parts, ["country", "coutnry"], ["coutnry"])
    assert found.hint == "this column is null in every row; check the partition keys"
    (unlike,) = suspicions(parts, ["id"], ["coutnry"])
    assert unlike.hint == "no row has this column; check the partition keys"
    assert suspicions([part(files=[file(default), file("coutnry=x/")])], [], ["coutnry"]) == []
    assert suspicions([part(files=[])], [], ["coutnry"]) == []


def test_a_format_that_most_records_do_not_fit():
    (found,) = suspicions([ManifestPart(rows_in=20, rejected={"invalid_utf8": 10, "malformed_csv": 1})], [], [])
    assert (found.event, found.of, found.records) == ("most_records_rejected", "invalid_utf8", 11)
    assert "not UTF-8" in found.hint
    assert suspicions([ManifestPart(rows_in=20, rejected={"invalid_utf8": 10})], [], []) == []
    assert suspicions([ManifestPart(rows_in=9, rejected={"invalid_utf8": 9})], [], []) == []


def nulls(wanted, names, rows=20):
    return part(missing=MissingFields(frozenset([wanted]), frozenset(names), frozenset([wanted]), rows))


def test_a_field_with_nulls_only_is_named_if_a_near_one_that_is_not_asked_for_has_values():
    assert suspicions([nulls("country", ["contry"]), part()], [], []) == [
        Suspicion("field_without_values", "country", "Did you mean 'contry'?", 20)
    ]
    assert suspicions([nulls("country", ["price"])], [], []) == []


def test_fields_that_differ_in_a_digit_are_two_fields():
    assert suspicions([nulls("line_2", ["line_1"])], [], []) == []


def test_a_few_records_with_nulls_say_nothing():
    assert suspicions([nulls("country", ["contry"], rows=9)], [], []) == []


def test_a_field_that_is_absent_here_and_null_there_has_no_value():
    (found,) = suspicions([nulls("country", ["contry"]), part(missing=missing("country"))], [], [])
    assert (found.event, found.hint) == ("field_without_values", "Did you mean 'contry'?")


def test_a_task_reads_the_needed_columns_only_so_the_source_knows_the_near_name():
    parts = [part(missing=missing("contry", names=["id"]))]

    assert suspicions(parts, [], [], lambda: ["id", "country"]) == [
        Suspicion("field_not_found", "contry", "Did you mean 'country'?")
    ]


@pytest.mark.parametrize(("names", "hint"), [
    (["id;country"], "the header contains ';'; check separator in format_options"),
    (["id\tcountry", "id\tcountry"], "the header contains '\\t'; check separator in format_options"),
    (['{"id": 1', '"country": "DE"}'], "the files look like JSON; check the format"),
])  # fmt: skip
def test_names_of_columns_that_come_from_a_wrong_separator_or_format(names, hint):
    (found,) = suspicions([part()], names, [])
    assert (found.event, found.of, found.hint) == ("header_not_understood", names[0], hint)
    assert suspicions([part()], ["id;country", "price"], []) == suspicions([part()], ["id"], []) == []
