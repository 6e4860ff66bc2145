"""Databases are crawled, and their tables read by name."""

import json
import os
from decimal import Decimal
from urllib.parse import urlsplit

import psycopg
import pymysql
import pytest

from gluepot.catalog.connect import catalog_url, shared_catalog
from gluepot.cli.exit_codes import DONE
from gluepot.cli.main import app, outcome
from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK
from tests.mariadb import mariadb_server
from tests.postgresql import new_database

SCRIPT = """
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN price AS numeric(8, 2);
CREATE TABLE "Orders" (
  id bigint PRIMARY KEY, small smallint, who varchar(20), total numeric(10, 2), open_sum numeric, cost price, ok boolean,
  day date, at timestamp, seen timestamptz, ratio real, rate float8, raw bytea, doc jsonb, tags text[], feeling mood
);
COMMENT ON TABLE "Orders" IS 'what people buy';
COMMENT ON COLUMN "Orders".who IS 'the buyer';
INSERT INTO "Orders" VALUES (1, 2, 'ada', 9.5, 1.5, 3.25, true, '2026-05-01', '2026-05-01 10:00', '2026-05-01 10:00+02',
  0.5, 0.25, '\\x00ff', '{"a": 1}', '{x,y}', 'glad');
CREATE VIEW paid AS SELECT id, total FROM "Orders";
CREATE SCHEMA audit;
CREATE TABLE audit.log (line text);
CREATE TABLE parts (id int, day date) PARTITION BY RANGE (day);
CREATE TABLE parts_may PARTITION OF parts FOR VALUES FROM ('2026-05-01') TO ('2026-06-01');
"""
TYPES = {
    "id": "bigint", "small": "smallint", "who": "string", "total": "decimal(10,2)", "open_sum": "decimal(38,18)",
    "cost": "decimal(8,2)", "ok": "boolean", "day": "date", "at": "timestamp", "seen": "timestamp", "ratio": "float",
    "rate": "double", "raw": "binary", "doc": "string", "tags": "array<string>", "feeling": "string",
}  # fmt: skip

MARIADB_ORDERS = """
CREATE TABLE shop.orders (
  id INT UNSIGNED PRIMARY KEY, ok TINYINT(1), total DECIMAL(10,2) COMMENT 'gross', name VARCHAR(20), made DATETIME,
  raw BLOB, doc JSON
) COMMENT 'what people buy'
"""


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    return tmp_path


def connect(state, monkeypatch, url, user, password=""):
    properties = {"JDBC_CONNECTION_URL": url, "USERNAME": user, "PASSWORD": password}
    text = json.dumps({"connections": {"warehouse": {"type": "jdbc", "properties": properties}}})
    (state / "connections.yaml").write_text(text)
    (state / "connections.yaml").chmod(0o600)
    monkeypatch.setenv("GLUEPOT_CONNECTIONS", str(state / "connections.yaml"))


@pytest.fixture
def shop(state, postgresql, monkeypatch):
    with new_database(postgresql) as url:
        parts = urlsplit(url)
        connect(
            state, monkeypatch, f"jdbc:postgresql://{parts.hostname}:{parts.port}", parts.username, parts.password or ""
        )
        with psycopg.connect(url) as connection:
            connection.execute(SCRIPT)
        yield url


def crawled(capsys, *arguments):
    assert (
        outcome(app, ["crawl", "--connection", "warehouse", "--database", "web", "--output", "json", *arguments])
        == DONE
    )
    return {one["table"]: one["outcome"] for one in json.loads(capsys.readouterr().out)["tables"]}


def test_tables_of_postgresql_are_found_and_read_with_the_types_that_the_catalog_has(shop, capsys, glue_context):
    name = urlsplit(shop).path.strip("/")
    found = crawled(capsys, f"{name}/public/%", "--metadata", "comments")
    assert found == dict.fromkeys((f"{name}_public_{one}" for one in ("orders", "paid", "parts")), "created")
    assert crawled(capsys, f"{name}/%", "--exclude", "*/par*") == {
        f"{name}_public_orders": "unchanged",
        f"{name}_public_paid": "unchanged",
        f"{name}_audit_log": "created",
    }
    frame = glue_context.create_dynamic_frame.from_catalog(database="web", table_name=f"{name}_public_orders")
    rows = frame.toDF()
    told = {column.name: column.dataType.simpleString() for column in rows.schema}
    assert told == TYPES
    table = shared_catalog(catalog_url(os.environ), SystemClock()).table("web", f"{name}_public_orders")
    assert {one.name: one.type for one in table.storage.columns} == TYPES
    [row] = rows.collect()
    assert (row.id, row.total, row.tags, row.feeling) == (1, Decimal("9.50"), ["x", "y"], "glad")


def test_tables_of_mariadb_are_found(state, capsys, monkeypatch):
    with mariadb_server() as port:
        connect(state, monkeypatch, f"jdbc:mysql://{LOOPBACK}:{port}/shop", "root")
        with pymysql.connect(host=LOOPBACK, port=port, user="root", autocommit=True) as connection:
            cursor = connection.cursor()
            for statement in (
                "CREATE DATABASE shop",
                MARIADB_ORDERS,
                "CREATE VIEW shop.totals AS SELECT total FROM shop.orders",
                "CREATE TABLE shop.tmp_x (id INT)",
                "CREATE DATABASE other",
                "CREATE TABLE other.hidden (id INT)",
            ):
                cursor.execute(statement)
        arguments = ("shop/%", "--exclude", "tmp*", "--metadata", "comments", "--metadata", "rawtypes")
        assert crawled(capsys, *arguments) == {"shop_orders": "created", "shop_totals": "created"}
    catalog = shared_catalog(catalog_url(os.environ), SystemClock())
    orders, totals = (catalog.table("web", f"shop_{name}") for name in ("orders", "totals"))
    assert (orders.storage.location, orders.parameters["classification"]) == ("shop.orders", "mysql")
    assert [(one.name, one.type) for one in orders.storage.columns] == [
        ("id", "bigint"),
        ("ok", "boolean"),
        ("total", "decimal(10,2)"),
        ("name", "string"),
        ("made", "timestamp"),
        ("raw", "binary"),
        ("doc", "string"),
    ]
    assert orders.storage.columns[2].to_json() == {
        "Name": "total", "Type": "decimal(10,2)", "Comment": "gross", "Parameters": {"rawType": "decimal(10,2)"},
    }  # fmt: skip
    assert (orders.body["Description"], totals.parameters["typeOfData"]) == ("what people buy", "view")


def test_a_wrong_login_is_told_and_nothing_is_written(shop, state, capsys, monkeypatch):
    parts = urlsplit(shop)
    connect(state, monkeypatch, f"jdbc:postgresql://{parts.hostname}:{parts.port}", "nobody_of_that_name", "secret")
    assert outcome(app, ["crawl", "--connection", "warehouse", f"{parts.path.strip('/')}/%"]) != DONE
    said = capsys.readouterr()
    assert "No target could be crawled" in said.err
    assert "secret" not in said.err + said.out
