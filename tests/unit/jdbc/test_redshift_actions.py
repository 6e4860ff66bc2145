"""Preactions and postactions as they run inside our transaction."""

from __future__ import annotations

import pytest

from gluepot.connectors.jdbc.redshift.actions import in_one_transaction, is_repeatable
from gluepot.connectors.jdbc.scripts import split
from gluepot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ; ;", []),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        (
            "INSERT INTO t VALUES ('a;b', 'it''s; so', 'c\\';d')",
            ["INSERT INTO t VALUES ('a;b', 'it''s; so', 'c\\';d')"],
        ),
        ('DELETE FROM "a;b"; SELECT 1', ['DELETE FROM "a;b"', "SELECT 1"]),
        ("SELECT 1 -- one; more\n; SELECT 2 /* two; */", ["SELECT 1", "SELECT 2"]),
        (
            "CREATE PROCEDURE p() AS $$ BEGIN DELETE FROM t; END; $$ LANGUAGE plpgsql; CALL p()",
            ["CREATE PROCEDURE p() AS $$ BEGIN DELETE FROM t; END; $$ LANGUAGE plpgsql", "CALL p()"],
        ),
        ("SELECT $x$ a; $$ b; $x$; SELECT 2", ["SELECT $x$ a; $$ b; $x$", "SELECT 2"]),
        ("SELECT 'never closed; x", ["SELECT 'never closed", "x"]),
    ],
)
def test_statements_are_split_at_semicolons_outside_of_quotes_and_comments(text, statements):
    assert split(text) == statements


@pytest.mark.parametrize(
    "bracket", ["BEGIN", "begin transaction", "START TRANSACTION", "BEGIN WORK", "END", "COMMIT", "end transaction"]
)
def test_brackets_of_a_transaction_are_left_out(bracket):
    assert list(in_one_transaction(f"{bracket}; DELETE FROM t; {bracket};", "postactions")) == ["DELETE FROM t"]


@pytest.mark.parametrize("statement", ["TRUNCATE s.t", "truncate table s.t", "  TRUNCATE  TABLE\n s.t ;"])
def test_a_truncate_which_would_commit_becomes_a_delete(statement):
    assert list(in_one_transaction(statement, "preactions")) == ["DELETE FROM s.t"]


@pytest.mark.parametrize(
    "statement", ["ROLLBACK", "abort", "VACUUM t", "ALTER TABLE a APPEND FROM b", "CREATE DATABASE d"]
)
def test_what_cannot_run_inside_a_transaction_is_refused(statement):
    with pytest.raises(ConfigError, match=r"^preactions has "):
        list(in_one_transaction(statement, "preactions"))


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE ends (id int)", "CALL begin_load()", "COMMENT ON TABLE t IS 'end'"]
)
def test_words_that_only_begin_alike_are_left_alone(statement):
    assert list(in_one_transaction(statement, "preactions")) == [statement]


@pytest.mark.parametrize(
    ("postactions", "repeatable"),
    [
        ("", True),
        ("GRANT SELECT ON t TO GROUP g", True),
        ("BEGIN; MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE; DROP TABLE s; END;", True),
        ("DELETE FROM t USING s WHERE t.id = s.id; INSERT INTO t SELECT * FROM s; DROP TABLE s", True),
        ("INSERT INTO t SELECT * FROM s; DROP TABLE s", False),
        ("insert into t select * from s", False),
    ],
)
def test_statements_that_only_add_rows_are_not_repeatable(postactions, repeatable):
    assert is_repeatable(postactions) is repeatable
