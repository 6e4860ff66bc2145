"""Crawlers of a running service, with processes of their own, called as boto3 and the AWS command line do."""

import json
import os
import time
from urllib.parse import urlsplit

import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.postgresql import new_database
from tests.service_answers import client_of

SECS = 60


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture(scope="module")
def glue(serving):
    client = client_of(serving, "glue")
    client.create_database(DatabaseInput={"Name": "web"})
    return client


def until_ready(glue, name):
    deadline = time.monotonic() + SECS
    while time.monotonic() < deadline:
        found = glue.get_crawler(Name=name)["Crawler"]
        if found["State"] == "READY" and "LastCrawl" in found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"the crawler {name} does not end")


def test_a_crawler_makes_tables_and_follows_what_changes(glue, serving, tmp_path):
    for day in (1, 2):
        (tmp_path / "orders" / f"day={day}").mkdir(parents=True)
        parquet.write_table(
            pa.table({"id": [day], "a": [1], "b": [2]}), tmp_path / "orders" / f"day={day}" / "x.parquet"
        )
    (tmp_path / "orders" / "day=2" / "broken.parquet").write_bytes(b"PAR1 cut")
    glue.create_crawler(
        Name="orders", Role="any", DatabaseName="web", Targets={"S3Targets": [{"Path": str(tmp_path / "orders")}]}
    )
    glue.start_crawler(Name="orders")
    found = until_ready(glue, "orders")
    assert found["LastCrawl"]["Status"] == "SUCCEEDED"
    table = glue.get_table(DatabaseName="web", Name="orders")["Table"]
    assert [one["Name"] for one in table["PartitionKeys"]] == ["day"]
    assert table["Parameters"]["classification"] == "parquet"
    assert len(glue.get_partitions(DatabaseName="web", TableName="orders")["Partitions"]) == 2
    [index] = glue.get_partition_indexes(DatabaseName="web", TableName="orders")["PartitionIndexDescriptorList"]
    assert index["IndexName"] == "crawler_partition_index"

    (tmp_path / "orders" / "day=3").mkdir()
    parquet.write_table(
        pa.table({"id": [3], "a": [1], "b": [2], "name": ["c"]}), tmp_path / "orders" / "day=3" / "x.parquet"
    )
    glue.start_crawler(Name="orders")
    until_ready(glue, "orders")
    versions = glue.get_table_versions(DatabaseName="web", TableName="orders")["TableVersions"]
    assert [[c["Name"] for c in one["Table"]["StorageDescriptor"]["Columns"]] for one in versions] == [
        ["id", "a", "b", "name"],
        ["id", "a", "b"],
    ]
    crawls = glue.list_crawls(CrawlerName="orders")["Crawls"]
    assert json.loads(json.loads(crawls[0]["Summary"])["PARTITION"])["ADD"]["Count"] == 1
    [figures] = glue.get_crawler_metrics(CrawlerNameList=["orders"])["CrawlerMetricsList"]
    assert figures["TablesUpdated"] == 1

    logs = client_of(serving, "logs")
    said = logs.filter_log_events(logGroupName="/aws-glue/crawlers", logStreamNames=["orders"])["events"]
    lines = [one["message"] for one in said]
    assert any("BENCHMARK : Running Start Crawl for Crawler orders" in line for line in lines)
    assert any("WARN : Left out" in line and "broken.parquet" in line for line in lines)
    assert any("Crawler has finished running and is in state READY" in line for line in lines)


def test_a_custom_classifier_has_its_effect_and_a_crawl_without_a_database_fails_in_words(glue, tmp_path):
    (tmp_path / "timing.log").write_text("[7] slow\n[8] fast\n")
    pattern = r"\[%{NUMBER:id:int}\] %{WORD:speed}"
    glue.create_classifier(GrokClassifier={"Name": "timing", "Classification": "timing", "GrokPattern": pattern})
    for name, database in (("timing", "web"), ("lost", "nowhere")):
        glue.create_crawler(
            Name=name,
            Role="any",
            DatabaseName=database,
            Classifiers=["timing"],
            TablePrefix="raw_",
            Targets={"S3Targets": [{"Path": str(tmp_path / "timing.log")}]},
        )
        glue.start_crawler(Name=name)
    assert until_ready(glue, "timing")["LastCrawl"]["Status"] == "SUCCEEDED"
    table = glue.get_table(DatabaseName="web", Name="raw_timing_log")["Table"]
    assert [(one["Name"], one["Type"]) for one in table["StorageDescriptor"]["Columns"]] == [
        ("id", "int"),
        ("speed", "string"),
    ]
    lost = until_ready(glue, "lost")["LastCrawl"]
    assert lost["Status"] == "FAILED"
    assert "The catalog has no database 'nowhere'" in lost["ErrorMessage"]


def test_a_crawler_follows_a_connection_of_the_catalog_to_a_database(glue, postgresql):
    with new_database(postgresql) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE orders (id bigint, total numeric(8, 2))")
        parts, database = urlsplit(url), urlsplit(url).path.strip("/")
        properties = {
            "JDBC_CONNECTION_URL": f"jdbc:postgresql://{parts.hostname}:{parts.port}/{database}",
            "USERNAME": parts.username,
            "PASSWORD": parts.password or "any",
        }
        glue.create_connection(
            ConnectionInput={"Name": "warehouse", "ConnectionType": "JDBC", "ConnectionProperties": properties}
        )
        targets = {"JdbcTargets": [{"ConnectionName": "warehouse", "Path": f"{database}/public/%"}]}
        glue.create_crawler(Name="shop", Role="any", DatabaseName="web", Targets=targets)
        glue.start_crawler(Name="shop")
        assert until_ready(glue, "shop")["LastCrawl"]["Status"] == "SUCCEEDED"
        table = glue.get_table(DatabaseName="web", Name=f"{database}_public_orders")["Table"]
        assert table["Parameters"]["connectionName"] == "warehouse"
        assert [(one["Name"], one["Type"]) for one in table["StorageDescriptor"]["Columns"]] == [
            ("id", "bigint"),
            ("total", "decimal(8,2)"),
        ]
