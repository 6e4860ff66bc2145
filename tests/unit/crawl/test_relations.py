"""Targets in databases: which tables they mean, how these are named, and what becomes of tables that go."""

import random
from dataclasses import replace

import pytest

from gluepot.catalog.connections import JdbcConnection
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.inventory import Relation, RelationColumn, mysql_type, relations
from gluepot.core.errors import ConfigError, TransientError
from gluepot.crawl.relations import inventory, is_meant
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import JdbcTarget, crawl_settings
from tests.unit.crawl.crawling import a_catalog

ID = RelationColumn("Id", "bigint", "bigint", "the number")
ORDERS = Relation(
    "shop", "public", "Orders", (ID, RelationColumn("total", "decimal(10,2)", "numeric(10,2)")), comment="all"
)
PAID = Relation("shop", "public", "paid", (ID,), is_view=True)
AUDIT = Relation("shop", "audit", "log", (ID,))


def target(path="shop/%/%", **more):
    given = {"ConnectionName": "warehouse", "Path": path, **more}
    return {"Name": "c", "DatabaseName": "web", "Targets": {"JdbcTargets": [given]}}


@pytest.mark.parametrize(
    ("pattern", "exclusions", "meant"),
    [
        ("%/%", (), ["public/Orders", "public/paid", "audit/log"]),
        ("%", (), ["public/Orders", "public/paid", "audit/log"]),
        ("public/%", (), ["public/Orders", "public/paid"]),
        ("public/p%d", (), ["public/paid"]),
        ("public/orders", (), []),
        ("%/log", (), ["audit/log"]),
        ("orders", (), []),
        ("%/%", ("audit/**",), ["public/Orders", "public/paid"]),
        ("%/%", ("*/{Orders,log}",), ["public/paid"]),
        ("%", ("shop/l%", "shop/public/O*"), ["public/paid"]),
    ],
)
def test_a_path_and_exclusions_choose_tables_by_schema_and_name(pattern, exclusions, meant):
    wanted = JdbcTarget("warehouse", "shop", tuple(pattern.split("/")), exclusions)
    assert [one.path for one in (ORDERS, PAID, AUDIT) if is_meant(wanted, one.path)] == meant


def test_databases_without_schemas_have_one_name_below_them():
    assert is_meant(JdbcTarget("warehouse", "shop", ("ord%",)), "orders")
    assert not is_meant(JdbcTarget("warehouse", "shop", ("%", "%")), "orders")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"Path": "shop/%"}, "no ConnectionName"),
        ({"ConnectionName": "w", "Path": "shop"}, "Path in JdbcTargets is 'shop'"),
        ({"ConnectionName": "w", "Path": "%/public/a"}, "Path in JdbcTargets"),
        ({"ConnectionName": "w", "Path": "a/b/c/d"}, "Path in JdbcTargets"),
        ({"ConnectionName": "w", "Path": "a//c"}, "Path in JdbcTargets"),
        ({"ConnectionName": "w", "Path": "a/b", "EnableAdditionalMetadata": ["ALL"]}, "use COMMENTS or RAWTYPES"),
    ],
)
def test_targets_that_cannot_be_meant_are_refused(given, said):
    with pytest.raises(ConfigError, match=said):
        crawl_settings({"Name": "c", "DatabaseName": "web", "Targets": {"JdbcTargets": [given]}})


def test_a_database_has_no_new_folders():
    with pytest.raises(ConfigError, match="needs S3Targets"):
        crawl_settings({**target(), "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}})


def crawled(catalog, there, given=None):
    settings = crawl_settings(given or target())

    def ask(_):
        if isinstance(there, Exception):
            raise there
        return "postgresql", there

    return {one.table: one for one in crawl(settings, catalog, random.Random(1), "run", ask=ask).tables}


def test_tables_are_named_by_database_schema_and_table_and_name_their_connection(tmp_path):
    catalog = a_catalog(tmp_path)
    crawled(catalog, [ORDERS, PAID])
    assert [one.name for one in catalog.tables("web")] == ["shop_public_orders", "shop_public_paid"]
    orders = catalog.table("web", "shop_public_orders")
    assert orders.storage.location == "shop.public.Orders"
    assert [(one.name, one.type) for one in orders.storage.columns] == [("id", "bigint"), ("total", "decimal(10,2)")]
    assert orders.parameters == {
        "classification": "postgresql",
        "compressionType": "none",
        "connectionName": "warehouse",
        "typeOfData": "table",
        "CrawlerSchemaSerializerVersion": "1.0",
        "CrawlerSchemaDeserializerVersion": "1.0",
        "UPDATED_BY_CRAWLER": "c",
        "CRAWL_RUN_ID": "run",
    }
    assert catalog.table("web", "shop_public_paid").parameters["typeOfData"] == "view"


def test_comments_and_raw_types_are_kept_if_they_are_asked_for(tmp_path):
    catalog = a_catalog(tmp_path)
    crawled(catalog, [ORDERS], target(EnableAdditionalMetadata=["COMMENTS", "RAWTYPES"]))
    orders = catalog.table("web", "shop_public_orders")
    assert orders.body["Description"] == "all"
    first, second = (one.to_json() for one in orders.storage.columns)
    assert first == {"Name": "id", "Type": "bigint", "Comment": "the number", "Parameters": {"rawType": "bigint"}}
    assert second == {"Name": "total", "Type": "decimal(10,2)", "Parameters": {"rawType": "numeric(10,2)"}}


def test_a_second_crawl_changes_what_has_changed_and_deprecates_what_is_gone(tmp_path):
    catalog = a_catalog(tmp_path)
    crawled(catalog, [ORDERS, PAID])
    assert {one.outcome for one in crawled(catalog, [ORDERS, PAID]).values()} == {"unchanged"}
    wider = replace(ORDERS, columns=(*ORDERS.columns, RelationColumn("note", "string", "text")))
    actions = crawled(catalog, [wider])
    assert actions["shop_public_orders"].why == "new column note string"
    assert (actions["shop_public_paid"].outcome, actions["shop_public_paid"].why) == ("deprecated", "its table is gone")


def test_tables_outside_of_the_path_stay_as_they_are(tmp_path):
    catalog = a_catalog(tmp_path)
    crawled(catalog, [ORDERS, AUDIT])
    assert list(crawled(catalog, [ORDERS], target("shop/public/%"))) == ["shop_public_orders"]
    excluding = target(Exclusions=["audit/*"])
    assert list(crawled(catalog, [ORDERS], excluding)) == ["shop_public_orders"]


def test_a_database_that_does_not_answer_leaves_its_tables_alone(tmp_path):
    catalog = a_catalog(tmp_path)
    crawled(catalog, [ORDERS])
    before = catalog.table("web", "shop_public_orders")
    with pytest.raises(ConfigError, match="No target could be crawled"):
        crawled(catalog, TransientError("it sleeps"))
    assert catalog.table("web", "shop_public_orders") == before


def test_a_connection_that_names_another_database_is_refused():
    connection = JdbcConnection("warehouse", "postgresql", "jdbc:postgresql://db:5432/other?ssl=true")
    with pytest.raises(ConfigError, match="leads to the database 'other', and Path names 'shop'"):
        inventory(JdbcTarget("warehouse", "shop", ("%",)), connection)


def test_databases_of_other_kinds_are_refused():
    with pytest.raises(ConfigError, match="of sqlserver cannot be crawled here"):
        relations(JdbcEndpoint("jdbc:sqlserver://db:1433;databaseName=shop"), "shop")


@pytest.mark.parametrize(
    ("column_type", "digits", "hive"),
    [
        ("tinyint(1)", (3, 0), "boolean"),
        ("tinyint(4)", (3, 0), "tinyint"),
        ("tinyint(3) unsigned", (3, 0), "smallint"),
        ("smallint(5) unsigned", (5, 0), "int"),
        ("mediumint(8) unsigned", (7, 0), "int"),
        ("int(11)", (10, 0), "int"),
        ("int(10) unsigned", (10, 0), "bigint"),
        ("bigint(20) unsigned", (20, 0), "decimal(20,0)"),
        ("decimal(10,2)", (10, 2), "decimal(10,2)"),
        ("decimal(65,2)", (65, 2), "string"),
        ("bit(1)", (1, 0), "boolean"),
        ("bit(8)", (8, 0), "binary"),
        ("datetime(6)", (0, 0), "timestamp"),
        ("enum('unsigned','b')", (0, 0), "string"),
        ("varchar(20)", (0, 0), "string"),
        ("longblob", (0, 0), "binary"),
        ("json", (0, 0), "string"),
    ],
)
def test_types_of_mysql(column_type, digits, hive):
    kind = column_type.partition("(")[0].split()[0]
    assert mysql_type(column_type, kind, *digits) == hive
