"""Logs that the built-in classifiers know, each by a grok pattern (docs/glue 11.6). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluepot.connectors.files.formats.grok.patterns import grok_pattern

LOGS: Mapping[str, str] = {
    "combined_apache": "%{COMBINEDAPACHELOG}",
    "apache": "%{COMMONAPACHELOG}",
    "linux_kernel": "%{SYSLOGBASE} %{GREEDYDATA:message}",
    "microsoft_log": (
        r"%{IP:clientip}, %{NOTSPACE:username}, %{DATE_US:date}, %{TIME:time}, %{NOTSPACE:service},"
        r" %{NOTSPACE:servername}, %{IP:serverip}, %{NONNEGINT:timetaken:long}, %{NONNEGINT:received:long},"
        r" %{NONNEGINT:sent:long}, %{NONNEGINT:status:int}, %{NONNEGINT:winstatus:int}, %{WORD:method},"
        r" %{NOTSPACE:target}, %{NOTSPACE:parameters},?"
    ),
    "ruby_logger": "%{RUBY_LOGGER}",
    "squid": (
        r"%{NUMBER:timestamp:double}\s+%{INT:duration:long} %{IPORHOST:client} %{WORD:cacheresult}/%{INT:status:int}"
        r" %{INT:bytes:long} %{WORD:method} %{NOTSPACE:url} %{NOTSPACE:user} %{WORD:hierarchy}/%{NOTSPACE:server}"
        r" %{NOTSPACE:contenttype}"
    ),
    "redismonlog": (
        r'%{NUMBER:timestamp:double} \[%{INT:db:int} %{NOTSPACE:client}\] "%{DATA:command}"%{GREEDYDATA:params}'
    ),
    "redislog": r"\[%{POSINT:pid:int}\] %{REDISTIMESTAMP:timestamp} [*#.-] %{GREEDYDATA:message}",
}
"""The patterns by classification, in the order in which they are tried."""

FITTING_SHARE = 0.9
"""A log may have lines of another form, such as a stack trace; readers set them aside."""

_MOST_LINES = 200


def certainty(lines: Sequence[str], pattern: str, customs: str = "", *, whole: bool = True) -> float:
    """Return the share of lines that fit a pattern.

    Args:
        lines: of a file; the first ones are looked at.
        pattern: grok.
        customs: patterns of one's own.
        whole: a line must fit from its begin to its end.

    Raises:
        ConfigError: the pattern is none.
    """
    compiled = grok_pattern(pattern, customs)
    looked = [line for line in lines[:_MOST_LINES] if line.strip()]
    return sum(compiled.match(line, whole=whole) is not None for line in looked) / len(looked) if looked else 0.0


def log_of(lines: Sequence[str]) -> str:
    """Return the classification of a log; empty if it is none that is known."""
    if not lines:
        return ""
    fits_first = (name for name, pattern in LOGS.items() if certainty(lines[:5], pattern) > 0)
    return next((name for name in fits_first if certainty(lines, LOGS[name]) >= FITTING_SHARE), "")
