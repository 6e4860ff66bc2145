from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.lake.catalogs import LocalCatalog, iceberg_catalogs, mapped, names_aws

LOCAL = LocalCatalog("jdbc:sqlite:/state/catalog.db", "/state/warehouse")
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
GLUE = "org.apache.iceberg.aws.glue.GlueCatalog"
S3_FILES, HADOOP_FILES = "org.apache.iceberg.aws.s3.S3FileIO", "org.apache.iceberg.hadoop.HadoopFileIO"
PROPERTIES = {
    "catalog-impl": [GLUE, "org.apache.iceberg.hive.HiveCatalog", "software.amazon.s3tables.iceberg.S3TablesCatalog"],
    "type": ["glue", "rest", "hadoop", "jdbc"],
    "uri": ["https://glue.us-east-1.amazonaws.com/iceberg", "http://127.0.0.1:8181"],
    "warehouse": ["s3://bucket/lake", "arn:aws:s3tables:us-east-1:1:bucket/b", "123456789012", "/data/lake"],
    "io-impl": [S3_FILES],
    "lock-impl": ["org.apache.iceberg.aws.dynamodb.DynamoDbLockManager"],
    "glue.skip-archive": ["true"],
}


def catalog(kind=SPARK_CATALOG, name="glue_catalog", **properties):
    prefix = f"spark.sql.catalog.{name}"
    return {prefix: kind} | {f"{prefix}.{key.replace('_', '-')}": value for key, value in properties.items()}


def properties_of(conf, local=LOCAL, name="glue_catalog"):
    prefix = f"spark.sql.catalog.{name}."
    both = {**conf, **mapped(conf, local).settings}
    return {key.removeprefix(prefix): value for key, value in both.items() if key.startswith(prefix)}


def test_the_catalog_of_the_guide_becomes_one_of_the_database():
    found = properties_of(catalog(catalog_impl=GLUE, warehouse="s3://bucket/lake", io_impl=S3_FILES))

    assert found["catalog-impl"] == "org.apache.iceberg.jdbc.JdbcCatalog"
    assert found["uri"] == LOCAL.uri


@pytest.mark.parametrize(
    "properties",
    [
        {"catalog_impl": GLUE},
        {"type": "glue"},
        {"catalog_impl": "software.amazon.s3tables.iceberg.S3TablesCatalog"},
        {"type": "rest", "uri": "https://glue.us-east-1.amazonaws.com/iceberg"},
    ],
)
def test_every_way_to_name_a_catalog_of_aws_is_mapped(properties):
    found = properties_of(catalog(**properties))

    assert "jdbc" in (found.get("catalog-impl") or found["type"]).lower()


def test_a_catalog_named_by_type_gets_a_type_because_iceberg_refuses_type_and_class_together():
    found = properties_of(catalog(type="glue"))

    assert (found["type"], "catalog-impl" in found) == ("jdbc", False)


@pytest.mark.parametrize(
    "conf",
    [
        catalog(type="hadoop", warehouse="/data"),
        catalog(type="rest", uri="http://127.0.0.1:8181"),
        catalog(catalog_impl="org.apache.iceberg.hive.HiveCatalog"),
        catalog("org.apache.spark.sql.delta.catalog.DeltaCatalog", "spark_catalog"),
        {},
    ],
)
def test_catalogs_that_are_not_of_aws_stay(conf):
    assert mapped(conf, LOCAL).settings == {}
    assert not names_aws(conf)


def test_a_warehouse_on_s3_stays_there_with_the_files_of_s3():
    found = properties_of(catalog(catalog_impl=GLUE, warehouse="s3://bucket/lake"))

    assert (found["warehouse"], found["io-impl"]) == ("s3://bucket/lake", S3_FILES)


def test_buckets_of_another_s3_than_amazons_are_no_host_names():
    own = LocalCatalog(LOCAL.uri, LOCAL.warehouse, own_s3=True)

    assert properties_of(catalog(type="glue", warehouse="s3://bucket/lake"), own)["s3.path-style-access"] == "true"


def test_a_folder_may_stand_for_s3():
    conf = catalog(catalog_impl=GLUE, warehouse="s3://bucket/lake/", io_impl=S3_FILES)

    found = properties_of(conf, LocalCatalog(LOCAL.uri, "/lake", buckets="/lake"))

    assert (found["warehouse"], found["io-impl"]) == ("/lake/bucket/lake", HADOOP_FILES)


@pytest.mark.parametrize("warehouse", ["/data/lake", "file:///data/lake"])
def test_a_warehouse_on_disk_stays_there_and_needs_no_files_of_s3(warehouse):
    found = properties_of(catalog(catalog_impl=GLUE, warehouse=warehouse, io_impl=S3_FILES))

    assert (found["warehouse"], found["io-impl"]) == (warehouse, HADOOP_FILES)


@pytest.mark.parametrize("warehouse", [None, "arn:aws:s3tables:us-east-1:1:bucket/b", "123456789012"])
def test_a_warehouse_that_is_no_place_becomes_the_local_one(warehouse):
    given = {} if warehouse is None else {"warehouse": warehouse}

    assert properties_of(catalog(catalog_impl=GLUE, **given))["warehouse"] == LOCAL.warehouse


def test_locks_of_dynamodb_are_left_out_and_said_so():
    lock = "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager"
    conf = catalog(catalog_impl=GLUE, lock_impl=lock) | {"spark.sql.catalog.glue_catalog.lock.table": "locks"}

    assert "aws" not in properties_of(conf)["lock-impl"]
    assert mapped(conf, LOCAL).catalogs[0].left_out == ("lock-impl", "lock.table")


def test_what_was_mapped_says_from_what_to_what():
    (one,) = mapped(catalog(catalog_impl=GLUE, name="lake"), LOCAL).catalogs

    assert (one.name, one.was, one.uri, one.warehouse) == ("lake", GLUE, LOCAL.uri, LOCAL.warehouse)


def test_the_login_of_the_database_is_given_to_the_catalog():
    found = properties_of(catalog(type="glue"), LocalCatalog("jdbc:postgresql://db/lake", "/lake", "ada", "secret"))

    assert (found["jdbc.user"], found["jdbc.password"]) == ("ada", "secret")


@given(
    st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in PROPERTIES.items()}),
    st.booleans(),
)
def test_what_was_mapped_is_not_mapped_again_and_nothing_is_taken_away(properties, stands_for_s3):
    local = LocalCatalog(LOCAL.uri, LOCAL.warehouse, buckets="/lake" if stands_for_s3 else None)
    conf = catalog(**properties)

    once = {**conf, **mapped(conf, local).settings}

    assert not names_aws(once)
    assert once.keys() >= conf.keys()
    assert mapped(conf, local).catalogs or once == conf


def test_the_catalog_that_iceberg_adds_by_itself_is_nobodys():
    conf = {f"spark.sql.catalog.{name}": SPARK_CATALOG for name in ("default_iceberg", "glue_catalog")}

    assert list(iceberg_catalogs(conf)) == ["glue_catalog"]
