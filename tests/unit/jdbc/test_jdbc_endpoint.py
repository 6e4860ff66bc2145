from __future__ import annotations

import pytest

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint, without_secrets
from gluepot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("jdbc:postgresql://db:5432/shop", "postgresql://db:5432/shop?user=u&password=p%26w"),
        ("jdbc:postgresql:shop", "postgresql://localhost/shop?user=u&password=p%26w"),
        (
            "jdbc:postgresql://a:1,b:2/shop?targetServerType=primary",
            "postgresql://a:1,b:2/shop?target_session_attrs=primary&user=u&password=p%26w",
        ),
        (
            "jdbc:postgresql://db/shop?ssl=true&sslmode=require",
            "postgresql://db/shop?sslmode=require&user=u&password=p%26w",
        ),
        (
            "jdbc:postgresql://db/shop?currentSchema=s&prepareThreshold=0",
            "postgresql://db/shop?options=-csearch_path%3Ds&user=u&password=p%26w",
        ),
        ("postgresql://db/shop?sslmode=require", "postgresql://db/shop?sslmode=require&user=u&password=p%26w"),
    ],
)
def test_a_url_of_the_java_driver_says_the_same_to_postgresqls_own_client(url, uri):
    assert JdbcEndpoint(url, "u", "p&w").libpq_uri() == uri


def test_the_database_of_a_connection_is_put_behind_a_url_without_one():
    options = {"url": "jdbc:postgresql://db:5432", "database": "shop"}
    assert JdbcEndpoint.from_options(options).url == "jdbc:postgresql://db:5432/shop"


@pytest.mark.parametrize("url", ["jdbc:postgresql://h/d?user=u&password=hush", "postgresql://u:hush@h/d"])
def test_secrets_are_not_shown(url):
    endpoint = JdbcEndpoint(url, password="hush")
    assert "hush" not in endpoint.shown + repr(endpoint)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("jdbc:postgresql://h/d?user=u&password=hush&sslmode=require", "jdbc:postgresql://h/d?user=u&sslmode=require"),
        ("jdbc:postgresql://h/d?password=hush", "jdbc:postgresql://h/d"),
        ("postgresql://u:hush@h/d", "postgresql://u@h/d"),
        ("jdbc:sqlserver://h;databaseName=d;password=hush", "jdbc:sqlserver://h;databaseName=d"),
    ],
)
def test_a_url_works_without_its_secrets_for_who_has_them_from_elsewhere(url, kept):
    assert without_secrets(url) == kept


def test_a_driver_of_the_scripts_is_used_where_it_is_named():
    assert JdbcEndpoint("jdbc:postgresql://h/d").is_arrow_native
    assert JdbcEndpoint("jdbc:postgresql://h/d", driver_class="org.postgresql.Driver").is_arrow_native
    assert not JdbcEndpoint("jdbc:postgresql://h/d", driver_class="com.example.Driver").is_arrow_native
    assert not JdbcEndpoint("jdbc:postgresql://h/d", driver_jar="/x.jar").is_arrow_native
    assert JdbcEndpoint("jdbc:MySQL://h/d").vendor == "mysql"


@pytest.mark.parametrize("url", ["", "mysql://h/d", "db.example.org"])
def test_what_is_no_url_of_jdbc_is_refused(url):
    with pytest.raises(ConfigError, match="url"):
        JdbcEndpoint.from_options({"url": url})


def test_options_of_snowflakes_connector_are_a_url():
    options = {
        "sfUrl": "https://x.snowflakecomputing.com/", "sfDatabase": "my db", "sfSchema": "public",
        "sfWarehouse": "w", "sfUser": "me", "sfPassword": "hush",
    }  # fmt: skip
    found = JdbcEndpoint.from_options(options)
    assert found.url == "jdbc:snowflake://x.snowflakecomputing.com/?db=my%20db&schema=public&warehouse=w"
    assert (found.vendor, found.user, found.password) == ("snowflake", "me", "hush")


@pytest.mark.parametrize("option", ["customJdbcDriverClassName", "driver", "className"])
def test_the_class_of_a_driver_has_several_options(option):
    assert JdbcEndpoint.from_options({"url": "jdbc:db2://h/d", option: "a.B"}).driver_class == "a.B"
