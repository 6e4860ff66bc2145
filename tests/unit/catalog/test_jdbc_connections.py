from __future__ import annotations

import pytest

from gluepot.catalog.connections import Connection, jdbc_connection
from gluepot.catalog.databases import database_read, is_of_database
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError


def jdbc(environ=None, **properties):
    return jdbc_connection(Connection("warehouse", "jdbc", properties), environ or {})


def test_user_and_password_are_followed_and_never_shown():
    found = jdbc(
        {"DB_PASSWORD": "s3cret"}, JDBC_CONNECTION_URL="jdbc:postgresql://db:5432/shop", USERNAME="ada",
        PASSWORD="env:DB_PASSWORD",
    )  # fmt: skip
    assert (found.engine, found.user, found.password) == ("postgresql", "ada", "s3cret")
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    ("engine", "url"),
    [
        ("postgresql", "jdbc:postgresql://db:1"),
        ("sqlserver", "jdbc:sqlserver://db:1"),
        ("oracle", "jdbc:oracle:thin:@//db:1"),
    ],
)
def test_host_port_and_engine_make_a_url(engine, url):
    assert jdbc(HOST="db", PORT="1", JDBC_ENGINE=engine).url == url


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("jdbc:postgresql://db:5432/shop?ssl=true", "jdbc:postgresql://db:5432"),
        ("jdbc:sqlserver://db:1433;databaseName=shop", "jdbc:sqlserver://db:1433"),
        ("jdbc:oracle:thin:@db:1521:shop", "jdbc:oracle:thin:@db:1521:shop"),
    ],
)
def test_glues_url_ends_where_the_database_begins(url, server):
    conf = jdbc(JDBC_CONNECTION_URL=url).to_glue()
    assert (conf["url"], conf["fullUrl"], conf["enforceSSL"]) == (server, url, "false")


def test_options_of_a_read_leave_out_what_is_not_said():
    assert jdbc(JDBC_CONNECTION_URL="jdbc:mysql://db/shop", USERNAME="ada").to_options() == {
        "url": "jdbc:mysql://db/shop",
        "user": "ada",
    }


def of_database(location):
    parameters = {"classification": "PostgreSQL", "connectionName": "warehouse"}
    return Table("web", "orders", {"StorageDescriptor": {"Location": location}, "Parameters": parameters})


def test_a_table_of_a_database_is_read_through_its_connection():
    table = of_database("shop.public.orders")
    assert is_of_database(table)
    read = database_read(table, {"jobBookmarkKeys": ["id"]})
    assert (read.kind, read.options) == (
        "postgresql",
        {
            "useConnectionProperties": "true",
            "connectionName": "warehouse",
            "database": "shop",
            "dbtable": "public.orders",
            "jobBookmarkKeys": ["id"],
        },
    )


def test_a_table_of_a_database_says_which_table_it_is():
    with pytest.raises(ConfigError, match=r"write database\.schema\.table"):
        database_read(of_database("shop"), {})


@pytest.mark.parametrize("properties", [{"JDBC_CONNECTION_URL": "postgresql://db/shop"}, {"HOST": "db"}])
def test_a_connection_without_a_server_is_refused(properties):
    with pytest.raises(ConfigError, match="connection 'warehouse'"):
        jdbc(**properties)


def test_a_connection_of_another_type_is_refused():
    with pytest.raises(ConfigError, match="is of type kafka; name one of type jdbc"):
        jdbc_connection(Connection("events", "kafka", {}), {})
