"""Decisions of writes to MySQL and MariaDB: addresses, names, errors, statements, upserts, and the text of rows."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.mysql.address import Address, Tls, address_of
from gluepot.connectors.jdbc.mysql.columns import (
    TableColumn,
    created_columns,
    digest,
    has_index,
    hidden_conflict,
    quoted,
    table_name,
    unquoted,
)
from gluepot.connectors.jdbc.mysql.errors import RowRefused, translated
from gluepot.connectors.jdbc.mysql.publish import record_id, sorted_out
from gluepot.connectors.jdbc.mysql.statements import created_table, split
from gluepot.connectors.jdbc.mysql.stored import (
    insert_rows,
    insert_start,
    load_lines,
    load_statement,
    pieces,
    readable,
    staged_type,
    stored,
    unfit,
)
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError, PermanentError, TransientError

ENDPOINT = JdbcEndpoint("jdbc:mysql://host/shop?password=secret")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:mysql://host/shop", Address("host", 3306, "shop", "", "")),
        ("jdbc:mariadb://host:3307/shop?user=a&password=b%26c", Address("host", 3307, "shop", "a", "b&c")),
        ("jdbc:mysql:///shop", Address("localhost", 3306, "shop", "", "")),
        ("jdbc:mysql://[::1]:3307/my%20shop", Address("::1", 3307, "my shop", "", "")),
        ("jdbc:mysql://host/shop?useSSL=false", Address("host", 3306, "shop", "", "", Tls.DISABLED)),
        ("jdbc:mysql://host/shop?requireSSL=true", Address("host", 3306, "shop", "", "", Tls.REQUIRED)),
        ("jdbc:mysql://host/shop?verifyServerCertificate=true", Address("host", 3306, "shop", "", "", Tls.VERIFY_CA)),
        (
            "jdbc:mariadb://host/shop?sslMode=verify-full&serverSslCert=/ca.pem",
            Address("host", 3306, "shop", "", "", Tls.VERIFY_IDENTITY, "/ca.pem"),
        ),
        ("jdbc:mysql://host/shop?sslMode=REQUIRED", Address("host", 3306, "shop", "", "", Tls.REQUIRED)),
    ],
)
def test_a_jdbc_url_gives_the_address(url, expected):
    assert address_of(JdbcEndpoint(url)) == expected


def test_a_login_beside_the_url_comes_first():
    endpoint = JdbcEndpoint("jdbc:mysql://host/shop?user=a&password=b", user="c", password="d")
    assert (address_of(endpoint).user, address_of(endpoint).password) == ("c", "d")


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:mysql://host",
        "jdbc:mysql://host/",
        "jdbc:mysql://one,two/shop",
        "jdbc:mysql:replication://a/shop",
        "jdbc:mysql://address=(host=a)/shop",
        "jdbc:mysql://host/shop?sslMode=maybe",
    ],
)
def test_a_url_that_does_not_name_one_database_is_refused_in_a_sentence(url):
    with pytest.raises(ConfigError, match=r"write jdbc:mysql://host:3306/database|use one of DISABLED"):
        address_of(JdbcEndpoint(url))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders", ("shop", "orders")),
        (" web.orders ", ("web", "orders")),
        ("`we.b` . `or``ders`", ("we.b", "or`ders")),
        ("web.`the orders`", ("web", "the orders")),
    ],
)
def test_a_table_is_named_with_or_without_its_database(text, expected):
    assert table_name(text, "shop") == expected


@pytest.mark.parametrize("text", ["", "a.b.c", "two words", "`open", "a."])
def test_what_is_not_a_name_is_refused(text):
    with pytest.raises(ConfigError, match=r"write table or database\.table"):
        table_name(text, "shop")


def test_quotes_are_taken_off_again():
    assert [unquoted(quoted(name)) for name in ("a", "a`b", "`", "a.b")] == ["a", "a`b", "`", "a.b"]


@pytest.mark.parametrize(
    ("number", "state", "kind"),
    [
        (0, "", TransientError),
        (2003, "", TransientError),
        (2013, "", TransientError),
        (1205, "HY000", TransientError),
        (1213, "40001", TransientError),
        (1040, "08004", TransientError),
        (1290, "HY000", TransientError),
        (4031, "HY000", TransientError),
        (1045, "28000", ConfigError),
        (1049, "42000", ConfigError),
        (1146, "42S02", ConfigError),
        (1364, "HY000", ConfigError),
        (1264, "22003", RowRefused),
        (1366, "HY000", RowRefused),
        (1406, "22001", RowRefused),
        (1062, "23000", RowRefused),
        (1399, "XAE07", ConfigError),
        (2026, "", ConfigError),
        (1105, "HY000", PermanentError),
    ],
)
def test_an_error_is_one_of_ours_by_its_number_and_state(number, state, kind):
    error = translated(number, state, "what the\nserver said", ENDPOINT, "A statement")
    assert type(error) is kind
    assert "secret" not in str(error)
    assert "\n" not in str(error)


def test_statements_are_divided_at_semicolons_outside_of_texts_names_and_comments():
    text = r"""
    INSERT INTO a VALUES ('x;y', "z\";", 'it''s'); -- not; here
    DELETE FROM `b;c` WHERE n = 5--1 /* nor; here */;; # nor; here
    SELECT 1 /*! , 2; */
    """
    statements = split(text)
    assert [one.split()[0] for one in statements] == ["INSERT", "--", "#"]
    assert [len(split(one)) for one in statements] == [1, 1, 1]
    assert split(" ;; -- nothing\n;/* at all */") == []
    assert split("SELECT 'open; SELECT 2") == ["SELECT 'open", "SELECT 2"]


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("CREATE TABLE IF NOT EXISTS a (n INT)", "a"),
        ("/* one */ -- two\n create  table if not exists `a b`.c(n INT)", "`a b`.c"),
        ("CREATE TABLE a (n INT)", None),
        ("CREATE TEMPORARY TABLE IF NOT EXISTS a (n INT)", None),
        ("DROP TABLE a", None),
        ("/*! CREATE TABLE IF NOT EXISTS a (n INT) */", None),
    ],
)
def test_a_statement_that_may_make_a_table_is_known(statement, table):
    assert created_table(statement) == table


@pytest.mark.parametrize(
    ("indexes", "given", "other"),
    [
        ({"PRIMARY": ["sku"]}, ["sku"], None),
        ({"PRIMARY": ["id"], "by_sku": ["sku"]}, ["sku"], None),
        ({"PRIMARY": ["id"], "by_sku": ["sku"]}, ["sku", "id"], "PRIMARY"),
        ({"by_sku": ["sku"], "both": ["sku", "day"]}, ["sku", "day"], None),
        ({"by_sku": ["sku"], "by_day": ["day"]}, ["sku"], "by_day"),
        ({"by_sku": ["sku"], "hashed": ["(None)"]}, ["sku"], "hashed"),
    ],
)
def test_an_upsert_by_one_index_must_not_replace_rows_by_another(indexes, given, other):
    assert hidden_conflict(indexes, ["sku"], given, ["id"]) == other
    assert has_index(indexes, ["sku"])
    assert not has_index(indexes, ["sku", "id"])


def test_a_new_table_has_keys_of_types_that_an_index_takes():
    assert created_columns({"k`": "LONGTEXT", "n": "BIGINT", "t": "LONGTEXT"}, ["k`", "n"]) == (
        "`k``` VARCHAR(255), `n` BIGINT, `t` LONGTEXT, PRIMARY KEY (`k```, `n`)"
    )
    assert created_columns({"n": "BIGINT"}, []) == "`n` BIGINT"


def test_rows_are_compared_by_all_that_their_columns_hold():
    columns = [TableColumn("t", "text", "text"), TableColumn("f", "float", "float"), TableColumn("b", "bit(1)", "bit")]
    assert digest(columns, "x") == (
        "UNHEX(SHA2(CONCAT_WS(',', IFNULL(SHA2(x.`t`, 256), '-'), IFNULL(SHA2(CAST(x.`f` + 0e0 AS CHAR), 256), '-'),"
        " IFNULL(SHA2(CAST(x.`b` AS BINARY), 256), '-')), 256))"
    )


def test_a_record_has_another_id_for_another_write_or_table():
    key = CommitKey("q", 1, "c")
    ids = {record_id(key, "t"), record_id(key, "u"), record_id(CommitKey("q", 2, "c"), "t"), record_id(key, "t")}
    assert len(ids) == 3
    assert {len(one) for one in ids} == {32}


ROWS = pa.record_batch(
    {
        "text": pa.array(["a\tb\nc\\d'e", None, ""]),
        "raw": pa.array([b"\x00'", None, b""]),
        "n": pa.array([1, None, 3], pa.int64()),
        "x": pa.array([1e300, None, 0.1]),
        "yes": pa.array([True, None, False]),
        "day": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
        "at": pa.array([datetime(2026, 5, 1, 10, tzinfo=UTC), None, None], pa.timestamp("s", "Europe/Berlin")),
        "sum": pa.array([Decimal("1.50"), None, None], pa.decimal128(5, 2)),
        "nothing": pa.nulls(3),
        "doc": pa.array([{"a": [1]}, None, None]),
    }
)


def test_columns_get_types_and_columns_of_nulls_are_left_out():
    _, types = stored(ROWS)
    assert types == {
        "text": "LONGTEXT", "raw": "LONGBLOB", "n": "BIGINT", "x": "DOUBLE", "yes": "TINYINT(1)", "day": "DATE",
        "at": "DATETIME(6)", "sum": "DECIMAL(5,2)", "doc": "JSON",
    }  # fmt: skip
    assert [staged_type(kind) for kind in ("JSON", "FLOAT", "DATE")] == ["LONGTEXT", "DOUBLE", "DATE"]
    assert stored(pa.record_batch({"d": pa.array([Decimal(1)], pa.decimal128(38, 31))}))[1] == {"d": "LONGTEXT"}


def test_rows_become_lines_of_a_load():
    rows, _ = stored(ROWS)
    assert load_lines(rows).to_pylist() == [
        "a\\tb\\nc\\\\d'e\t0027\t1\t1e+300\t1\t0001-01-01\t2026-05-01 10:00:00.000000\t1.50\t" + '{"a":[1]}\n',
        "\t".join(["\\N"] * 9) + "\n",
        "\t\t3\t0.1\t0\t9999-12-31\t\\N\t\\N\t\\N\n",
    ]


def test_rows_become_literals_of_an_insert():
    rows, _ = stored(ROWS)
    assert insert_rows(rows).to_pylist()[0] == (
        "('a\tb\nc\\\\d\\'e',x'0027',1,1e+300,1,'0001-01-01','2026-05-01 10:00:00.000000','1.50'," + "'{\"a\":[1]}'),"
    )
    assert insert_rows(rows).to_pylist()[1] == f"({','.join(['NULL'] * 9)}),"
    assert insert_rows(rows.select(["n"])).to_pylist() == ["(1),", "(NULL),", "(3),"]
    assert insert_start("s.t", ["a", "b`"]) == b"INSERT INTO s.t (`a`, `b```) VALUES "


def test_bytes_are_loaded_as_hexadecimal_digits():
    statement = load_statement("s.t", {"a": "LONGBLOB", "n": "INT", "b": "LONGBLOB"}, ["a", "n", "b"])
    assert statement.endswith("(@h0, `n`, @h1) SET `a` = UNHEX(@h0), `b` = UNHEX(@h1)")
    assert load_statement("s.t", {"n": "INT"}, ["n"]).endswith("(`n`)")


def test_pieces_hold_whole_rows_and_no_more_bytes_than_asked_unless_a_row_does():
    rows = pa.array(["aa", "bbb", "c", "dddddddd", "e"])
    assert [bytes(piece) for piece in pieces(rows, 5)] == [b"aabbb", b"c", b"dddddddd", b"e"]
    assert [bytes(piece) for piece in pieces(rows.slice(1, 2), 100)] == [b"bbbc"]
    assert list(pieces(rows.slice(0, 0), 5)) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([1.0, float("nan")]), "infinite or not a number"),
        (pa.array([float("inf")], pa.float32()), "infinite or not a number"),
        (pa.array([-(10**6)], pa.date32()), "before the year 1"),
        (pa.array([10**12], pa.timestamp("s")), "after the year 9999"),
        (pa.array([2**62], pa.timestamp("s")), "after the year 9999"),
    ],
)
def test_values_that_mysql_does_not_have_are_told_by_the_name_of_their_field(values, said):
    batch = pa.record_batch({"v": pa.concat_arrays([pa.array([None], values.type), values])})
    ((index, clause),) = unfit(batch).items()
    assert index == batch.num_rows - 1
    assert clause.startswith("the field 'v' ")
    assert said in clause
    assert readable(batch)["v"].to_pylist()


def test_values_at_the_ends_of_what_mysql_has_fit():
    days = pa.array([-719_162, 2_932_896, None], pa.date32())
    times = pa.array([-62_135_596_800, 253_402_300_799, None], pa.timestamp("s"))
    batch = pa.record_batch({"day": days, "at": times, "x": pa.array([1.5, None, -1e308])})
    assert unfit(batch) == {}
    assert readable(batch).equals(batch)


@pytest.mark.parametrize("bad", [set(), {1}, {9}, {1, 2, 3}, {4, 9}, set(range(1, 10))])
def test_rows_are_put_in_order_and_those_that_are_refused_alone_are_told(bad):
    put = []

    def some(low, high):
        if bad & set(range(low, high + 1)):
            raise RowRefused("it does not fit", f"{low}")
        put.extend(range(low, high + 1))

    assert sorted_out(1, 9, some, 9) == [(n, f"{n}") for n in sorted(bad)]
    assert put == [n for n in range(1, 10) if n not in bad]


def test_more_refused_rows_than_are_allowed_are_an_error():
    def none(low, high):
        raise RowRefused("it does not fit", f"{low} to {high}")

    assert len(sorted_out(1, 3, none, 3)) == 3
    with pytest.raises(RowRefused):
        sorted_out(1, 4, none, 3)


@pytest.mark.parametrize(
    "url", ["jdbc:oracle:thin:@h:1521/x", "jdbc:sqlserver://h;databaseName=x", "jdbc:snowflake://h"]
)
def test_other_databases_are_written_through_a_java_driver(url):
    made = table_database(JdbcWriteSettings.from_glue({"url": url, "dbtable": "t"}))
    assert type(made).__name__ == "JavaTables"


def test_a_jar_of_mysqls_own_driver_is_not_needed_and_does_not_hinder():
    options = {"url": "jdbc:mysql://h/d", "dbtable": "t", "customJdbcDriverS3Path": "s3://b/mysql-connector.jar"}
    assert type(table_database(JdbcWriteSettings.from_glue(options))).__name__ == "MysqlTables"


def test_a_client_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("gluepot.connectors.jdbc.mysql.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pymysql", None)
    monkeypatch.setitem(sys.modules, "pymysql.err", None)
    with pytest.raises(ConfigError, match=r"install gluepot\[mysql\]"):
        table_database(JdbcWriteSettings.from_glue({"url": "jdbc:mysql://h/d", "dbtable": "t"}))
