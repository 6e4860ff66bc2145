"""Options, addresses and errors of Redshift."""

from __future__ import annotations

import importlib
import sys

import pytest

from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.redshift.errors import translated
from gluepot.connectors.jdbc.redshift.publish import RedshiftTables
from gluepot.connectors.jdbc.redshift.session import connect_arguments
from gluepot.connectors.jdbc.redshift_options import RedshiftOptions, read_copy_options
from gluepot.connectors.jdbc.settings import JdbcReadSettings
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.core.errors import ConfigError, NotSupported, PermanentError, TransientError

URL = "jdbc:redshift://cluster.example.com:5439/dev"


@pytest.mark.parametrize(
    ("given", "passed_on", "truncates"),
    [
        ("", "", False),
        ("TRUNCATECOLUMNS", "", True),
        ("truncatecolumns acceptinvchars as '?' ", "acceptinvchars as '?'", True),
        ("TIMEFORMAT 'auto' COMPUPDATE OFF STATUPDATE ON", "STATUPDATE ON", False),
        ("BLANKSASNULL EMPTYASNULL DATEFORMAT AS 'YYYY-MM-DD'", "", False),
    ],
)
def test_options_of_copy_are_passed_on_as_far_as_parquet_has_them(given, passed_on, truncates):
    assert read_copy_options(given) == (passed_on, truncates)


@pytest.mark.parametrize("given", ["MAXERROR 10", "NOLOAD", "FILLRECORD", "; DROP TABLE t", "ACCEPTINVCHARS x"])
def test_options_that_lose_rows_or_are_not_known_are_refused(given):
    with pytest.raises(ConfigError, match=r"^extracopyoptions has "):
        read_copy_options(given)


def test_the_folder_is_in_s3():
    assert RedshiftOptions.from_options({"redshiftTmpDir": "s3a://b/tmp/"}).temp_dir == "s3://b/tmp"
    with pytest.raises(ConfigError, match="Redshift has no redshiftTmpDir"):
        RedshiftOptions.from_options({})
    for wrong in ("/tmp/x", "s3://b/it's", "s3://"):
        with pytest.raises(ConfigError, match="Redshift reads S3 only"):
            RedshiftOptions.from_options({"redshiftTmpDir": wrong})


def test_a_role_is_an_arn():
    given = {"redshiftTmpDir": "s3://b/t"}
    role = "arn:aws:iam::123456789012:role/copy"
    assert RedshiftOptions.from_options({**given, "aws_iam_role": role}).iam_role == role
    with pytest.raises(ConfigError, match=r"^aws_iam_role is "):
        RedshiftOptions.from_options({**given, "aws_iam_role": "x' CREDENTIALS '"})
    with pytest.raises(ConfigError, match=r"^tempformat is 'ORC'"):
        RedshiftOptions.from_options({**given, "tempformat": "ORC"})


def test_a_script_that_brings_its_own_driver_is_left_to_it():
    given = {"url": URL, "dbtable": "t", "redshiftTmpDir": "s3://b/t"}
    assert isinstance(table_database(JdbcWriteSettings.from_glue(given)), RedshiftTables)
    assert JdbcReadSettings.from_glue(given).redshift is not None
    own = {**given, "customJdbcDriverS3Path": "s3://b/driver.jar"}
    assert JdbcReadSettings.from_glue(own).redshift is None
    with pytest.raises(NotSupported):
        table_database(JdbcWriteSettings.from_glue(own))


@pytest.mark.parametrize(
    ("url", "made"),
    [
        ("jdbc:redshift://h:5439/dev", "jdbc:redshift://h:5439/shop"),
        ("jdbc:redshift://h:5439/", "jdbc:redshift://h:5439/shop"),
        ("jdbc:redshift://h", "jdbc:redshift://h/shop"),
        ("jdbc:redshift://h/dev?ssl=false", "jdbc:redshift://h/shop?ssl=false"),
    ],
)
def test_the_database_of_a_write_overrides_that_of_its_connection(url, made):
    assert JdbcEndpoint.from_options({"url": url, "database": "shop"}).url == made


def test_the_client_is_told_where_to_connect():
    endpoint = JdbcEndpoint(f"{URL}?ssl=false", "u", "p")
    assert connect_arguments(endpoint) == {
        "host": "cluster.example.com",
        "port": 5439,
        "database": "dev",
        "user": "u",
        "password": "p",
        "ssl": False,
        "sslmode": "verify-ca",
        "application_name": "gluepot",
    }
    assert connect_arguments(JdbcEndpoint("jdbc:redshift://h/d;UID=u;PWD=p;sslMode=verify-full")) == {
        **connect_arguments(endpoint),
        "host": "h",
        "database": "d",
        "ssl": True,
        "sslmode": "verify-full",
    }


def test_a_login_has_a_user():
    with pytest.raises(ConfigError, match="has no user"):
        connect_arguments(JdbcEndpoint(URL))


@pytest.mark.parametrize("url", ["jdbc:redshift:iam://cluster:eu-west-1/dev", "jdbc:redshift://h"])
def test_an_address_that_cannot_be_used_is_refused(url):
    with pytest.raises(ConfigError, match="write jdbc:redshift://host:5439/database"):
        connect_arguments(JdbcEndpoint(url))


def test_without_amazons_client_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "redshift_connector", None)
    for name in ("session", "errors", "relation", "publish", "catalog", "records"):
        monkeypatch.delitem(sys.modules, f"gluepot.connectors.jdbc.redshift.{name}", raising=False)
    for module in ("publish", "relation"):
        with pytest.raises(ConfigError, match=r"install gluepot\[redshift\]"):
            importlib.import_module(f"gluepot.connectors.jdbc.redshift.{module}")


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (None, TransientError),
        ({"C": "57014", "M": "Query cancelled"}, TransientError),
        ({"C": "XX000", "M": "1023", "D": "Serializable isolation violation on table - 1"}, TransientError),
        ({"C": "42P01", "M": 'relation "t" does not exist'}, ConfigError),
        ({"C": "22001", "M": "Value too long for character type"}, ConfigError),
        ({"C": "XX000", "M": "S3ServiceException:Access Denied,Status 403"}, ConfigError),
        ({"C": "XX000", "M": "Spectrum Scan Error"}, PermanentError),
    ],
)
def test_an_error_of_the_server_becomes_one_of_ours(told, kind):
    error = translated(told, "connection reset", "A statement at jdbc:redshift://h/d")
    assert type(error) is kind
    assert str(error).startswith("A statement at jdbc:redshift://h/d did not work: ")
