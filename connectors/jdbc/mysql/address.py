"""Where a MySQL or MariaDB server is, read from a JDBC URL. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import parse_qsl, unquote

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.core.errors import ConfigError

PORT = 3306

_URL = re.compile(
    r"jdbc:(?:mysql|mariadb)://(?P<host>\[[^\]]+\]|[^/?,:()]+)?(?::(?P<port>\d+))?/(?P<database>[^/?]*)(?:\?(?P<query>.*))?"
)
_FALSE = {"false", "no", "0"}


class Tls(Enum):
    """Whether a connection is encrypted, as `sslMode` of MySQL's Java driver says."""

    DISABLED = "disabled"
    PREFERRED = "preferred"
    REQUIRED = "required"
    VERIFY_CA = "verify_ca"
    VERIFY_IDENTITY = "verify_identity"


# Names of MariaDB's Java driver for the same.
_MARIADB_MODES = {
    "disable": Tls.DISABLED,
    "trust": Tls.REQUIRED,
    "verify-ca": Tls.VERIFY_CA,
    "verify-full": Tls.VERIFY_IDENTITY,
}


@dataclass(frozen=True, slots=True)
class Address:
    """A database of a server, with the login.

    Args:
        host: name or number of the host.
        port: TCP port.
        database: name of the database.
        user: user name; empty for the client's own choice.
        password: password; may be empty.
        tls: whether the connection is encrypted.
        ca_path: file of the authority's certificate; empty for the system's authorities.
    """

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    tls: Tls = Tls.PREFERRED
    ca_path: str = ""


def address_of(endpoint: JdbcEndpoint) -> Address:
    """Return the address that a URL gives.

    Raises:
        ConfigError: the URL has no database, names several hosts, or has a mode of encryption that does not exist.
    """
    found = _URL.fullmatch(endpoint.url)
    if found is None or not found["database"]:
        raise ConfigError(
            f"The url {endpoint.shown!r} does not name one host and a database; write jdbc:mysql://host:3306/database."
        )
    given = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    tls = _tls(given)
    return Address(
        host=(found["host"] or "localhost").strip("[]"),
        port=int(found["port"] or PORT),
        database=unquote(found["database"]),
        user=endpoint.user or given.get("user", ""),
        password=endpoint.password or given.get("password", ""),
        tls=tls,
        ca_path=given.get("serverSslCert", ""),
    )


def _tls(given: Mapping[str, str]) -> Tls:
    mode = given.get("sslMode", "")
    if mode:
        known = {one.value: one for one in Tls} | _MARIADB_MODES
        if mode.lower() not in known:
            raise ConfigError(f"sslMode in the url is {mode!r}; use one of {', '.join(one.name for one in Tls)}.")
        return known[mode.lower()]
    if given.get("useSSL", "").lower() in _FALSE:
        return Tls.DISABLED
    if given.get("verifyServerCertificate", "").lower() == "true":
        return Tls.VERIFY_CA
    return Tls.REQUIRED if given.get("requireSSL", "").lower() == "true" else Tls.PREFERRED
