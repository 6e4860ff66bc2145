from __future__ import annotations

import json

import pytest

from gluepot.connectors.jdbc.relation import Query, Table, read_relation
from gluepot.connectors.jdbc.settings import HashPartitions, JdbcReadSettings, RangePartitions
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.core.errors import ConfigError

URL = "jdbc:postgresql://db/shop"


def read(**options) -> JdbcReadSettings:
    return JdbcReadSettings.from_glue({"url": URL, "dbtable": "t", **options})


@pytest.mark.parametrize("given", [["a", "b"], "a,b", '["a", "b"]'])
@pytest.mark.parametrize("name", ["jobBookmarkKeys", "bookmark_key_fields"])
def test_keys_are_a_list_or_the_text_of_one_under_either_name(name, given):
    assert read(**{name: given}).keys == ("a", "b")


def test_the_spelling_that_aws_does_not_know_is_told(capsys):
    read(bookmark_key_fields=["a"])
    assert "option_spelling" in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["jobBookmarkKeysSortOrder", "jobBookmarksKeysSortOrder"])
def test_the_order_is_ascending_unless_said_otherwise(name):
    assert read(**{name: "DESC"}).descending
    assert not read().descending


def test_reads_are_shared_as_glue_or_as_spark_names_it():
    assert read(hashfield="a").partitions == HashPartitions("a", None, 7)
    assert read(hashexpression="a+1", hashpartitions="3").partitions == HashPartitions(None, "a+1", 3)
    spark = {"partitionColumn": "a", "lowerBound": "-5", "upperBound": 9, "numPartitions": "2"}
    assert read(**spark).partitions == RangePartitions("a", -5, 9, 2)


@pytest.mark.parametrize(
    ("options", "relation"),
    [
        ({"dbtable": "s.t"}, Table("s.t")),
        ({"dbtable": "(SELECT 1 AS a) q"}, Query("SELECT 1 AS a")),
        ({"dbtable": "t", "sampleQuery": "SELECT * FROM t WHERE a > 1 and"}, Query("SELECT * FROM t WHERE a > 1")),
        ({"dbtable": "", "query": "SELECT * FROM t;"}, Query("SELECT * FROM t")),
    ],
)
def test_what_is_read_is_a_table_or_a_query(options, relation):
    assert read(**options).relation == relation


@pytest.mark.parametrize(
    "options",
    [
        {"dbtable": ""},
        {"query": "SELECT 1"},
        {"jobBookmarkKeysSortOrder": "up"},
        {"jobBookmarkKeys": 5},
        {"hashfield": "a", "hashexpression": "b"},
        {"hashfield": "a", "hashpartitions": "0"},
        {"partitionColumn": "a", "lowerBound": "1"},
    ],
)
def test_options_that_contradict_each_other_or_make_no_sense_are_refused(options):
    with pytest.raises(ConfigError):
        read(**options)


def test_options_go_before_the_connection_they_name():
    connection = {"url": "jdbc:postgresql://other/shop", "user": "u", "password": "hush"}
    settings = JdbcReadSettings.from_glue({"connectionName": "c", "dbtable": "t", "user": "me"}, connection)
    assert (settings.endpoint.url, settings.endpoint.user) == ("jdbc:postgresql://other/shop", "me")


def test_the_description_holds_no_secret():
    settings = read(password="hush", url=f"{URL}?password=hush", user="u")
    assert "hush" not in json.dumps(settings.description)


def write(**options) -> JdbcWriteSettings:
    return JdbcWriteSettings.from_glue({"url": URL, "dbtable": "t", **options})


def test_a_write_appends_unless_said_otherwise():
    assert write().mode is Mode.APPEND
    assert write(overwrite="true").mode is Mode.OVERWRITE
    assert write(upsertKeys=["a"]) == write(mode="upsert", upsertKeys="[a]")


@pytest.mark.parametrize("options", [{"dbtable": ""}, {"mode": "replace"}, {"upsertKeys": 3}])
def test_a_write_that_cannot_be_understood_is_refused(options):
    with pytest.raises(ConfigError):
        write(**options)


@pytest.mark.parametrize(
    "condition",
    [
        "created_at >= '2026-06-01'",
        "a = 1 or b = 2 -- both",
        "name = 'it''s (here' and \"odd;name\" > 0",
        "name = 'it\\'s' and (a = 1 or (b = 2))",
        "a = 1 /* ; ) */",
        "`odd;name` = ')'",
    ],
)
def test_a_predicate_stays_inside_its_brackets(condition):
    relation = read_relation({"dbtable": "shop.t", "pushDownPredicate": condition})
    assert relation == Table("shop.t", condition)
    assert relation.source('"shop"."t"') == f'(SELECT * FROM "shop"."t" WHERE ({condition}\n)) gluepot_query'
    assert relation.shown("shop.t") == f"shop.t WHERE {condition}"


@pytest.mark.parametrize(
    "condition",
    ["1=1) or (1=1", "a = 1; drop table t", "a = 'open", "((a = 1)", "a = 1)) x; --", "a = 1 /* open", ")("],
)
def test_a_predicate_that_is_not_one_condition_is_refused(condition):
    with pytest.raises(ConfigError, match=r"pushDownPredicate is .* give one condition"):
        read_relation({"dbtable": "t", "pushDownPredicate": condition})


@pytest.mark.parametrize("switch", ["true", "False", True, "", None])
def test_sparks_switch_of_the_name_changes_no_rows(switch):
    assert read_relation({"dbtable": "t", "pushDownPredicate": switch}) == Table("t")


def test_a_predicate_of_a_query_is_applied_to_its_rows():
    relation = read_relation({"query": "select * from t union select * from u;", "pushDownPredicate": "a = 1"})
    assert relation == Query("SELECT * FROM (select * from t union select * from u) gluepot_rows WHERE (a = 1\n)")
