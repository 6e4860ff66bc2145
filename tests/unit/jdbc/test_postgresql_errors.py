from __future__ import annotations

import pytest
from adbc_driver_manager import AdbcStatusCode, Error

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.errors import translated
from gluepot.core.errors import ConfigError, TransientError

ENDPOINT = JdbcEndpoint.from_options({"url": "jdbc:postgresql://db:5432/shop", "user": "me", "password": "secret"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            (
                "NOT_FOUND: [libpq] Failed to execute query 'insert into nope\n values (1);\n select 1': ERROR:  relation"
                ' "nope" does not exist\nLINE 1: insert into nope\n                    ^\n. SQLSTATE: 42P01'
            ),
            'relation "nope" does not exist',
        ),
        (
            (
                'NOT_FOUND: Failed to prepare query: ERROR:  relation "nope" does not exist\nLINE 3:  nope\n         ^\n\n'
                "Query was: select 'ERROR:'\n from\n nope. SQLSTATE: 42P01"
            ),
            'relation "nope" does not exist',
        ),
        (
            (
                "INTEGRITY: [libpq] Failed to execute query 'insert into t\nvalues (1)': ERROR:  duplicate key value"
                ' violates unique constraint "t_pkey"\nDETAIL:  Key (id)=(1) already exists.\n. SQLSTATE: 23505'
            ),
            'duplicate key value violates unique constraint "t_pkey"; Key (id)=(1) already exists.',
        ),
        (
            (
                "INTEGRITY: [libpq] Failed to execute COPY statement: PGRES_FATAL_ERROR ERROR:  new row violates check"
                " constraint\nDETAIL:  Failing row contains (1).\nCONTEXT:  COPY t, line 1\n. SQLSTATE: 23514"
            ),
            "new row violates check constraint; Failing row contains (1).",
        ),
        (
            "IO: [libpq] Failed to execute query 'do $$ begin': ERROR:  my\nreason\nHINT:  how\n. SQLSTATE: P0001",
            "my reason; how",
        ),
        (
            'ALREADY_EXISTS: [libpq] Column "idx" does not exist in target table "t"',
            'ALREADY_EXISTS: [libpq] Column "idx" does not exist in target table "t"',
        ),
        ("", "no reason was given"),
    ],
)
def test_the_servers_reason_is_told_whole_and_without_the_statement(text, said):
    error = Error(text, status_code=AdbcStatusCode.INVALID_ARGUMENT, sqlstate="42P01")

    found = translated(error, ENDPOINT, "A statement")

    assert isinstance(found, ConfigError)
    assert f"did not work: {said} (SQLSTATE 42P01); correct" in str(found)


def test_a_server_that_does_not_answer_may_be_tried_again():
    text = (
        'IO: [libpq] Failed to connect: connection to server at "db", port 1 failed: Connection refused\n\tIs it up?\n'
    )

    found = translated(Error(text, status_code=AdbcStatusCode.IO), ENDPOINT, "A connection")

    assert isinstance(found, TransientError)
    assert "port 1 failed: Connection refused; start the server" in str(found)
