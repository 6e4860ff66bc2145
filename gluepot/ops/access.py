"""Who may read: loopback is open, any other address needs a token; probes that say yes or no are open.

A program sends the token in a header. A browser cannot, so a reader gives it once, in a form, for a cookie made of it.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gluepot.catalog.connections.references import resolve
from gluepot.core.errors import ConfigError

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
LOGIN = "/login"
STATIC = "/static/"
SHORTEST_TOKEN = 16


def checked_token(host: str, given: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the token that readers must bring; None for none.

    Args:
        host: address to listen on.
        given: the token, or `file:/path` or `env:NAME` of it.
        environ: where `env:` looks.

    Raises:
        ConfigError: the address can be reached from other machines and there is no token, or it is too short.
    """
    token = resolve(given, environ, "GLUEPOT_METRICS_TOKEN") if given else None
    if token is None and not is_loopback(host):
        raise ConfigError(
            f"the ops server on {host} can be reached from other machines, and has no token; set GLUEPOT_METRICS_TOKEN"
            " (file:/path, or the token), or listen on 127.0.0.1",
        )
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii()):
        raise ConfigError(
            f"the token of the ops server has {len(token)} characters; use {SHORTEST_TOKEN} or more, ASCII only",
        )
    return token


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address. Only `localhost` counts among names."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Access:
    """What readers bring.

    Args:
        token: None where they need bring nothing.
    """

    token: str | None = field(default=None, repr=False)

    @property
    def cookie_name(self) -> str:
        """Name of the cookie; of its own for each token, because browsers keep one set for all ports of a host."""
        return f"gluepot_{self._made('cookie name')[:12]}"

    def cookie_for(self, given: str) -> str | None:
        """Return the cookie of a reader who gave the token; None for anything else."""
        if self.token is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        return self._made("cookie")

    def allows(self, authorization: bytes, cookies: bytes) -> bool:
        """Tell whether the headers of a request show that its sender has the token.

        Args:
            authorization: the Authorization header of the request; empty if there is none.
            cookies: likewise.
        """
        if self.token is None or hmac.compare_digest(authorization, f"Bearer {self.token}".encode()):
            return True
        try:
            given = SimpleCookie(cookies.decode("latin-1")).get(self.cookie_name)
        except CookieError:
            return False
        return given is not None and hmac.compare_digest(given.value.encode(), self._made("cookie").encode())

    def _made(self, what: str) -> str:
        return hmac.new((self.token or "").encode(), f"gluepot ops {what}".encode(), "sha256").hexdigest()


class TokenRequired:
    """Lets a request through that is a bare probe, or shows that its sender has the token.

    Args:
        app: what answers.
        access: knows the token.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse all other requests; redirect browsers to the form for the token."""
        if scope["type"] != "http" or self._may(scope):
            await self._app(scope, receive, send)
            return
        await _refusal(scope)(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        path = scope["path"]
        if (path in PROBES and not scope["query_string"]) or path == LOGIN or path.startswith(STATIC):
            return True
        headers = dict(scope["headers"])
        return self._access.allows(headers.get(b"authorization", b""), headers.get(b"cookie", b""))


def _refusal(scope: Scope) -> Response:
    if scope["path"] == "/" and b"text/html" in dict(scope["headers"]).get(b"accept", b""):
        return RedirectResponse(LOGIN, 303)
    said = "Send `Authorization: Bearer` with the token of the job.\n"
    return PlainTextResponse(said, 401, {"WWW-Authenticate": "Bearer"})
