"""Which tables a search finds, and in which order."""

import pytest

from gluepot.catalog.values import Table
from gluepot.service.errors import ServiceError
from gluepot.service.table_search import search

CLICKS = Table(
    "web",
    "clicks",
    {
        "Description": "What was clicked",
        "Parameters": {"classification": "json", "owner team": "Data"},
        "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint", "Comment": "of the visitor"}]},
    },
    created_ms=2_000_000,
)
ORDERS = Table("shop", "orders", {"Parameters": {"classification": "parquet"}, "Owner": "ada"}, created_ms=1_000_000)
TABLES = [CLICKS, ORDERS]


def found(text="", filters=(), order=()):
    return [one.name for one in search(TABLES, text, filters, order)]


def test_without_a_question_all_tables_are_found_by_database():
    assert found() == ["orders", "clicks"]


@pytest.mark.parametrize("text", ["CLICK", "visitor", "what clicked", '"clicks"', "json", "owner team"])
def test_a_text_is_looked_for_in_names_comments_and_parameters(text):
    assert found(text) == ["clicks"]


@pytest.mark.parametrize("text", ["click orders", '"click"', "nothing"])
def test_all_words_must_be_there(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("key", "value", "comparator"),
    [
        ("DatabaseName", "WEB", "EQUALS"),
        ("classification", "json", "EQUALS"),
        ("CreateTime", "1000", "GREATER_THAN"),
        ("CreateTime", "1970-01-01T00:33:20", "GREATER_THAN_EQUALS"),
        ("name", "d", "LESS_THAN"),
    ],
)
def test_a_filter_compares_a_member_or_a_parameter(key, value, comparator):
    assert found(filters=[{"Key": key, "Value": value, "Comparator": comparator}]) == ["clicks"]


def test_all_filters_must_hold():
    assert found(filters=[{"Key": "Owner", "Value": "ada"}, {"Key": "DatabaseName", "Value": "web"}]) == []


def test_tables_are_sorted_as_it_is_wanted():
    assert found(order=[{"FieldName": "CreateTime", "Sort": "DESC"}]) == ["clicks", "orders"]
    assert found(order=[{"FieldName": "Name", "Sort": "ASC"}]) == ["clicks", "orders"]


@pytest.mark.parametrize(
    "wrong", [{"filters": [{"Key": "CreateTime", "Value": "now"}]}, {"order": [{"FieldName": "color"}]}]
)
def test_what_cannot_be_compared_is_refused(wrong):
    with pytest.raises(ServiceError):
        found(**wrong)


def test_very_many_filters_are_refused():
    with pytest.raises(ServiceError, match="Filters has 101 entries; give at most 100"):
        found(filters=[{"Key": "Name", "Value": "a"}] * 101)
