from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.jdbc.dialect import as_text, dialect_of, literal
from gluepot.connectors.jdbc.sql import Bound
from gluepot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("value", "family", "text"),
    [
        (5, "number", "5"),
        (Decimal("1E+3"), "number", "1000"),
        (dt.date(2026, 1, 31), "date", "{d '2026-01-31'}"),
        (dt.datetime(2026, 1, 31, 10, 0, 0, 5), "timestamp", "{ts '2026-01-31 10:00:00.000005'}"),
        ("it's", "other", "'it''s'"),
    ],
)
def test_a_value_of_a_bookmark_is_written_as_every_driver_reads_it(value, family, text):
    assert literal(Bound(as_text(value), family)) == text


@pytest.mark.parametrize("family", ["number", "date", "timestamp"])
def test_what_is_no_value_of_its_type_never_gets_into_a_statement(family):
    with pytest.raises((ValueError, ArithmeticError)):
        literal(Bound("1); DROP TABLE t; --", family))


@pytest.mark.parametrize("text", ["\\", "a\0b", "a\nb"])
def test_a_text_that_databases_read_differently_is_refused(text):
    with pytest.raises(ConfigError, match="use a key of numbers, dates or time stamps"):
        literal(Bound(text, "other"))


@given(st.sampled_from(["mysql", "sqlserver", "derby"]), st.text(max_size=8))
def test_a_quoted_name_ends_where_it_ends(vendor, name):
    dialect = dialect_of(vendor)
    quoted = dialect.quoted(name)
    inner = quoted[len(dialect.opening) : -len(dialect.closing)]
    assert dialect.closing not in inner.replace(dialect.closing * 2, "")
