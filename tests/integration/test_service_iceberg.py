"""Iceberg's catalogs of AWS Glue, PyIceberg's and Spark's, against a running service."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.types import StringType

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.clients.environment import SCRIPTS, SECS, shell_environment
from tests.service_answers import client_of

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "day": ["a", "a", "b"]})


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture
def catalog(serving, tmp_path):
    """PyIceberg's catalog; its tables lie in the folder of the test."""
    return load_catalog(
        "lake",
        **{
            "type": "glue",
            "glue.endpoint": serving.url,
            "glue.region": serving.region,
            "glue.access-key-id": serving.key.id,
            "glue.secret-access-key": serving.key.secret,
            "warehouse": f"file://{tmp_path}/lake",
        },
    )


def test_tables_of_pyiceberg_live_in_the_catalog(serving, catalog):
    catalog.create_namespace("shop", {"comment": "the shop", "owner": "ada"})
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace("shop")
    catalog.update_namespace_properties("shop", {"owner"}, {"team": "data"})
    assert catalog.load_namespace_properties("shop") == {"comment": "the shop", "team": "data"}

    orders = catalog.create_table("shop.orders", ROWS.schema)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table("shop.orders", ROWS.schema)
    orders.append(ROWS)
    catalog.load_table("shop.orders").append(ROWS)
    orders.append(ROWS)  # what it has loaded is not the newest, so the service refuses it and PyIceberg tries again
    with catalog.load_table("shop.orders").update_schema() as change:
        change.add_column("note", StringType(), "free text")

    table = client_of(serving).get_table(DatabaseName="shop", Name="orders")["Table"]
    assert (table["Parameters"]["table_type"], table["TableType"]) == ("ICEBERG", "EXTERNAL_TABLE")
    assert [column["Name"] for column in table["StorageDescriptor"]["Columns"]] == ["id", "day", "note"]

    catalog.rename_table("shop.orders", "shop.sales")
    with pytest.raises(NoSuchTableError):
        catalog.load_table("shop.orders")
    sales = catalog.load_table("shop.sales")
    assert sales.scan(row_filter="id > 1").to_arrow().num_rows == 6
    assert [snapshot.summary["added-records"] for snapshot in sales.snapshots()] == ["3", "3", "3"]
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("shop")
    catalog.drop_table("shop.sales")
    assert catalog.list_tables("shop") == []
    catalog.drop_namespace("shop")
    assert catalog.list_namespaces() == []


def test_spark_and_pyiceberg_share_tables(serving, catalog, tmp_path):
    catalog.create_namespace("shop")
    catalog.create_table("shop.orders", ROWS.schema).append(ROWS)
    ended = subprocess.run(
        [sys.executable, SCRIPTS / "spark_iceberg.py", f"file://{tmp_path}/lake", serving.url],
        env=shell_environment(serving, SPARK_LOCAL_IP="127.0.0.1"),
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
        timeout=SECS,
    )
    assert ended.returncode == 0, ended.stderr
    rows, tables = (json.loads(line) for line in ended.stdout.splitlines())
    assert rows == [[1, "a"], [2, "a"], [3, "b"]]
    assert sorted(name for _, name, _ in tables) == ["calendar", "orders"]
    assert sorted(catalog.load_table("shop.orders").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3, 4]
    assert catalog.load_table("shop.orders").schema().find_field("note").doc == "free text"
    assert sorted(catalog.load_table("shop.calendar").scan().to_arrow()["day"].to_pylist()) == ["b", "c"]
