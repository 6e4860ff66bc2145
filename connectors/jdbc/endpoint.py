"""The address of a database with user and password, read from options or from a connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger

POSTGRESQL = "postgresql"
MYSQL: Final = frozenset({"mysql", "mariadb"})

_JDBC = re.compile(r"jdbc:([a-zA-Z0-9]+):.+", re.DOTALL)
_POSTGRESQL = re.compile(r"(?:jdbc:)?postgres(?:ql)?:(?://(?P<hosts>[^/?]*))?/?(?P<database>[^?]*)(?:\?(?P<query>.*))?")
_REDSHIFT = re.compile(r"(?i)(jdbc:redshift://[^/?;]+)(?:/[^?;]*)?")
_PLAIN_POSTGRESQL = re.compile(r"postgres(?:ql)?://")
_POSTGRESQL_DRIVER = "org.postgresql.Driver"
_SECRET = re.compile(r"(?i)(password|pwd|secret|token)=[^&;]*")
_SECRET_PARAMETER = re.compile(r"(?i)(?<=[?&;])(password|pwd|secret|token)=[^&;]*[&;]?")
_LOGIN = re.compile(r"//([^/@:]*):[^/@]*@")
_USER_INFO = re.compile(r"//[^/@]*:[^/@]*@")

_LIBPQ_OF_JDBC = {
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "loginTimeout": "connect_timeout",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslmode": "sslmode",
    "targetServerType": "target_session_attrs",
    "gssEncMode": "gssencmode",
    "user": "user",
    "password": "password",
}
_SESSION_ATTRS = {"primary": "primary", "secondary": "standby", "preferSecondary": "prefer-standby", "any": "any"}

# Scripts of Glue name the class of a connector's driver in className.
_CLASS_OPTIONS = ("customJdbcDriverClassName", "driver", "className")
_SNOWFLAKE_OPTIONS = {"sfDatabase": "db", "sfSchema": "schema", "sfWarehouse": "warehouse", "sfRole": "role"}
ENDPOINT_OPTIONS = (
    *("url", "user", "password", "database", "customJdbcDriverS3Path", *_CLASS_OPTIONS),
    *("sfUrl", "sfUser", "sfPassword", *_SNOWFLAKE_OPTIONS),
)
"""Options that say where a database is."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class JdbcEndpoint:
    """A database.

    Args:
        url: `jdbc:...`, or `postgresql://...` as libpq takes it.
        user: user name; None if the URL or the driver's own files give it.
        password: password; None likewise.
        driver_class: class of a driver that the script brings; None for the driver that the URL implies.
        driver_jar: path or URL of that driver's archive.
    """

    url: str = field(repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    driver_class: str | None = None
    driver_jar: str | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> JdbcEndpoint:
        """Read Glue's options (docs/glue 5.7).

        Raises:
            ConfigError: there is no URL, or it is not a JDBC URL.
        """
        url = str(options.get("url") or "") or _snowflake_url(options)
        if not url:
            raise ConfigError(
                "The database has no url; give connection_options={'url': 'jdbc:postgresql://host/database', ...},"
                " or a connectionName with useConnectionProperties."
            )
        if not _JDBC.fullmatch(url) and not _PLAIN_POSTGRESQL.match(url):
            raise ConfigError(f"The url {_shown(url)!r} is not a JDBC URL; write jdbc:postgresql://host:5432/database.")
        database = str(options.get("database") or "")
        if database and (redshift := _REDSHIFT.match(url)):
            # As in Glue, whose connections to Redshift name a database for crawls, and whose writes name another.
            url = f"{redshift[1]}/{database}{url[redshift.end() :]}"
        elif database and re.fullmatch(r"(jdbc:)?[a-z]+://[^/?]+/?", url):
            url = f"{url.rstrip('/')}/{database}"
        return cls(
            url=url,
            user=_text(options, "user") or _text(options, "sfUser"),
            password=_text(options, "password") or _text(options, "sfPassword"),
            driver_class=next((one for name in _CLASS_OPTIONS if (one := _text(options, name))), None),
            driver_jar=_text(options, "customJdbcDriverS3Path"),
        )

    @property
    def vendor(self) -> str:
        """The part of the URL after `jdbc:` that names the kind of database, in lower case."""
        found = _JDBC.fullmatch(self.url)
        return found[1].lower() if found else POSTGRESQL

    @property
    def jdbc_url(self) -> str:
        """The URL as Java drivers want it."""
        return self.url if self.url.startswith("jdbc:") else f"jdbc:{self.url}"

    @property
    def is_arrow_native(self) -> bool:
        """Whether the driver that we ship reads it, and not a driver that the script brings.

        A script that names the class of PostgreSQL's Java driver, but no archive, does not bring a driver of its own.
        """
        return self.vendor == POSTGRESQL and not self.driver_jar and self.driver_class in {None, _POSTGRESQL_DRIVER}

    @property
    def shown(self) -> str:
        """The URL without secrets."""
        return _shown(self.url)

    def libpq_uri(self) -> str:
        """Return the URL in the form of PostgreSQL's own client, with user and password. Never print it.

        Parameters that only the Java driver understands are left out.

        Raises:
            ConfigError: the URL is not one of PostgreSQL.
        """
        found = _POSTGRESQL.fullmatch(self.url)
        if found is None:
            raise ConfigError(f"The url {self.shown!r} is not of PostgreSQL; write jdbc:postgresql://host:5432/name.")
        given = parse_qsl(found["query"] or "", keep_blank_values=True)
        named = dict(_libpq_parameters(given)) if self.url.startswith("jdbc:") else dict(given)
        named |= {name: value for name, value in (("user", self.user), ("password", self.password)) if value}
        hosts = found["hosts"] or ""
        if self.url.startswith("jdbc:") and not hosts:
            hosts = "localhost"
        query = f"?{urlencode(named, quote_via=quote)}" if named else ""
        return f"postgresql://{hosts}/{found['database']}{query}"


def _snowflake_url(options: Mapping[str, Any]) -> str:
    """Return the URL that options of Snowflake's connector stand for; empty without `sfUrl`."""
    host = (_text(options, "sfUrl") or "").removeprefix("https://").rstrip("/")
    if not host:
        return ""
    named = {name: value for option, name in _SNOWFLAKE_OPTIONS.items() if (value := _text(options, option))}
    return f"jdbc:snowflake://{host}/?{urlencode(named, quote_via=quote)}"


def without_secrets(url: str) -> str:
    """Return a URL without secrets, which still works if the password comes from elsewhere."""
    return _SECRET_PARAMETER.sub("", _LOGIN.sub(r"//\1@", url)).rstrip("?&;")


def _libpq_parameters(given: list[tuple[str, str]]) -> list[tuple[str, str]]:
    taken = []
    for name, value in given:
        if name == "ssl":
            if value.lower() != "false":
                taken.append(("sslmode", "verify-full"))
        elif name == "currentSchema":
            taken.append(("options", f"-csearch_path={value}"))
        elif name in _LIBPQ_OF_JDBC:
            taken.append((_LIBPQ_OF_JDBC[name], _SESSION_ATTRS.get(value, value) if "Server" in name else value))
        else:
            log.info("url_parameter_without_effect", parameter=name, reason="it is of the Java driver")
    # An explicit sslmode overrides ssl=true, whichever comes first.
    return sorted(taken, key=lambda one: one == ("sslmode", "verify-full"), reverse=True)


def _shown(url: str) -> str:
    return _USER_INFO.sub("//***@", _SECRET.sub(r"\1=***", url))


def _text(options: Mapping[str, Any], name: str) -> str | None:
    value = options.get(name)
    return str(value) if value not in {None, ""} else None
