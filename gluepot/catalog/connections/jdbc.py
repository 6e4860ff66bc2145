"""A Glue connection of type JDBC as plain values (docs/glue 11.5)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.login import login
from gluepot.catalog.connections.properties import Properties
from gluepot.core.errors import ConfigError

JDBC_PROPERTIES = (
    "JDBC_CONNECTION_URL",
    "HOST",
    "PORT",
    "JDBC_ENGINE",
    "JDBC_ENGINE_VERSION",
    "USERNAME",
    "PASSWORD",
    "SECRET_ID",
    "JDBC_ENFORCE_SSL",
    "CUSTOM_JDBC_CERT",
    "SKIP_CUSTOM_JDBC_CERT_VALIDATION",
    "CUSTOM_JDBC_CERT_STRING",
    "JDBC_DRIVER_JAR_URI",
    "JDBC_DRIVER_CLASS_NAME",
)

_ENGINE = re.compile(r"jdbc:([a-z0-9]+):")
_SERVER = re.compile(r"jdbc:[a-z0-9]+:(?:thin:@)?//[^/;?]+")
_HOST_FORMS = {"oracle": "jdbc:oracle:thin:@//{}:{}", "sqlserver": "jdbc:sqlserver://{}:{}"}


@dataclass(frozen=True, slots=True)
class JdbcConnection:
    """The place of a database and the user, with secrets in plain text.

    Args:
        name: of the connection.
        engine: as in the URL: `postgresql`, `mysql`, ...
        url: as the connection has it, `jdbc:...`; with a database where it names one.
        user: empty where the database wants none.
        password: likewise.
        enforce_ssl: only encrypted connections.
        certificate: path or URL of a certificate to trust; empty for none.
        skip_certificate_check: whether the certificate is trusted without a check.
        certificate_name: what the server's certificate must say; empty for nothing.
        driver_jar: path or URL of a driver of the user's; empty for none.
        driver_class: its class; empty where it is not said.
    """

    name: str
    engine: str
    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    enforce_ssl: bool = False
    certificate: str = ""
    skip_certificate_check: bool = False
    certificate_name: str = ""
    driver_jar: str = ""
    driver_class: str = ""

    @property
    def server_url(self) -> str:
        """The URL up to the name of the database; the whole URL if it names the database in another way."""
        found = _SERVER.match(self.url)
        return found[0] if found else self.url

    def to_options(self) -> dict[str, str]:
        """Return the equivalent options of a read or a write (docs/glue 5.7)."""
        options = {
            "url": self.url,
            "user": self.user,
            "password": self.password,
            "customJdbcDriverS3Path": self.driver_jar,
            "customJdbcDriverClassName": self.driver_class,
        }
        return {name: value for name, value in options.items() if value}

    def to_glue(self) -> dict[str, str]:
        """Return what `extract_jdbc_conf` answers (docs/glue 1.3)."""
        return {
            "user": self.user,
            "password": self.password,
            "vendor": self.engine,
            "url": self.server_url,
            "fullUrl": self.url,
            "enforceSSL": str(self.enforce_ssl).lower(),
            "customJDBCCert": self.certificate,
            "skipCustomJDBCCertValidation": str(self.skip_certificate_check).lower(),
            "customJDBCCertString": self.certificate_name,
        }


def jdbc_connection(connection: Connection, environ: Mapping[str, str] = os.environ) -> JdbcConnection:
    """Return a connection with its references followed.

    Raises:
        ConfigError: it is of another type, names no database server, or refers to nothing.
        TransientError: Secrets Manager does not answer.
    """
    if connection.type != "jdbc":
        raise ConfigError(f"connection {connection.name!r} is of type {connection.type}; name one of type jdbc")
    properties = Properties(connection, environ)
    url = properties.optional("JDBC_CONNECTION_URL") or _url_of_host(properties)
    engine = _ENGINE.match(url)
    if engine is None:
        raise ConfigError(
            f"connection {connection.name!r}: JDBC_CONNECTION_URL begins with {url[:12]!r}; write jdbc:engine://host:port/"
        )
    user, password = login(properties)
    return JdbcConnection(
        name=connection.name,
        engine=engine[1],
        url=url,
        user=user,
        password=password,
        enforce_ssl=properties.flag("JDBC_ENFORCE_SSL", default=False),
        certificate=properties.optional("CUSTOM_JDBC_CERT"),
        skip_certificate_check=properties.flag("SKIP_CUSTOM_JDBC_CERT_VALIDATION", default=False),
        certificate_name=properties.optional("CUSTOM_JDBC_CERT_STRING"),
        driver_jar=properties.optional("JDBC_DRIVER_JAR_URI"),
        driver_class=properties.optional("JDBC_DRIVER_CLASS_NAME"),
    )


def _url_of_host(properties: Properties) -> str:
    engine = properties.required("JDBC_ENGINE").lower()
    form = _HOST_FORMS.get(engine, f"jdbc:{engine}://{{}}:{{}}")
    return form.format(properties.required("HOST"), properties.required("PORT"))
