"""Logs by grok patterns, read as files of the format `grokLog`."""

import pytest

from gluepot.connectors.files.formats.grok import patterns
from gluepot.connectors.files.formats.grok.patterns import grok_pattern, standard_patterns
from gluepot.core.errors import ConfigError
from tests.unit.files.reading import errors, records

GLUE = [
    "USERNAME",
    "USER",
    "INT",
    "BASE10NUM",
    "NUMBER",
    "BASE16NUM",
    "BASE16FLOAT",
    "BOOLEAN",
    "POSINT",
    "NONNEGINT",
    "WORD",
    "NOTSPACE",
    "SPACE",
    "DATA",
    "GREEDYDATA",
    "QUOTEDSTRING",
    "UUID",
    "MAC",
    "CISCOMAC",
    "WINDOWSMAC",
    "COMMONMAC",
    "IPV6",
    "IPV4",
    "IP",
    "HOSTNAME",
    "HOST",
    "IPORHOST",
    "HOSTPORT",
    "PATH",
    "UNIXPATH",
    "TTY",
    "WINPATH",
    "URIPROTO",
    "URIHOST",
    "URIPATH",
    "URIPARAM",
    "URIPATHPARAM",
    "URI",
    "MONTH",
    "MONTHNUM",
    "MONTHNUM2",
    "MONTHDAY",
    "DAY",
    "YEAR",
    "HOUR",
    "MINUTE",
    "SECOND",
    "TIME",
    "DATE_US",
    "DATE_EU",
    "DATESTAMP_US",
    "DATESTAMP_EU",
    "ISO8601_TIMEZONE",
    "ISO8601_SECOND",
    "TIMESTAMP_ISO8601",
    "TZ",
    "DATESTAMP_RFC822",
    "DATESTAMP_RFC2822",
    "DATESTAMP_OTHER",
    "DATESTAMP_EVENTLOG",
    "CISCOTIMESTAMP",
    "SYSLOGTIMESTAMP",
    "PROG",
    "SYSLOGPROG",
    "SYSLOGHOST",
    "SYSLOGFACILITY",
    "HTTPDATE",
    "QS",
    "SYSLOGBASE",
    "MESSAGESLOG",
    "COMMONAPACHELOG",
    "COMBINEDAPACHELOG",
    "COMMONAPACHELOG_DATATYPED",
    "LOGLEVEL",
]


@pytest.mark.parametrize("name", GLUE)
def test_each_pattern_that_glue_lists_is_there(name):
    grok_pattern(f"%{{{name}:x}}")


def test_every_pattern_of_the_package_is_an_expression():
    broken = []
    for name in standard_patterns():
        try:
            grok_pattern(f"%{{{name}}}")
        except ConfigError:
            broken.append(name)
    assert broken == ["SHOREWALL"]  # its brackets do not match


def test_fields_have_types_and_unwanted_ones_are_dropped(tmp_path):
    (tmp_path / "x.log").write_text("7 0.5 true skip text here\n\n8 - false skip more\n")
    pattern = r"%{INT:id:int} (?:%{NUMBER:share:double}|-) %{WORD:ok:boolean} %{WORD:UNWANTED} %{GREEDYDATA:rest}"
    assert records(tmp_path, "grokLog", logFormat=pattern) == [
        {"id": 7, "share": 0.5, "ok": True, "rest": "text here"},
        {"id": 8, "ok": False, "rest": "more"},
    ]


def test_lines_that_do_not_fit_are_set_aside(tmp_path):
    (tmp_path / "x.log").write_text("[7]\nnothing\n[99999999999]\n")
    found = errors(tmp_path, "grokLog", logFormat=r"\[%{INT:id:int}\]")
    assert [(one.raw, one.message) for one in found] == [
        (b"nothing", "The line does not match the grok pattern."),
        (b"[99999999999]", "The field id is '99999999999', which is not of type int32."),
    ]
    assert records(tmp_path, "grokLog", logFormat=r"\[%{INT:id:int}\]") == [{"id": 7}]


def test_a_name_that_occurs_twice_has_the_value_of_the_one_that_fits():
    pattern = grok_pattern("(?:a=%{INT:n}|b=%{INT:n})")
    assert [pattern.match(line) for line in ("a=1", "b=2", "c=3")] == [{"n": "1"}, {"n": "2"}, None]


def test_custom_patterns_may_use_each_other_and_named_groups():
    pattern = grok_pattern("%{LINE}", "WHO (?<who>[a-z]+)\n# a comment\nLINE %{WHO}:%{INT:n}\n")
    assert pattern.match("ann:7") == {"who": "ann", "n": "7"}


@pytest.mark.parametrize(
    ("text", "customs", "said"),
    [
        ("%{NUMBR:x}", "", "Did you mean 'NUMBER'"),
        ("%{INT:x:number}", "", "has the type 'number'"),
        ("%{A}", "A %{A}", "contains itself"),
        ("(", "", "not a regular expression"),
        (
            "%{A}",
            "\n".join(f"{a} %{{{b}}}%{{{b}}}%{{{b}}}%{{{b}}}" for a, b in zip("ABCDEFGHIJ", "BCDEFGHIJK", strict=True))
            + "\nK x",
            "grows to more than",
        ),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(text, customs, said):
    with pytest.raises(ConfigError, match=said):
        grok_pattern(text, customs)


def test_a_line_that_takes_for_ever_does_not_fit(monkeypatch):
    monkeypatch.setattr(patterns, "_LINE_SECS", 0.05)
    assert grok_pattern("(?:a+)+b").match("a" * 5000) is None


def test_a_missing_pattern_is_told(tmp_path):
    (tmp_path / "x.log").write_text("x\n")
    with pytest.raises(ConfigError, match="grokLog needs a logFormat"):
        records(tmp_path, "grokLog")
