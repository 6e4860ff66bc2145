"""Decides who may read. On loopback everyone may; any other address needs a token, except for bare health probes.

A program sends the token in a header. A browser cannot do that, so a person enters the token once in a form, and gets a
cookie that is derived from it.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gluepot.catalog.connections.references import resolve
from gluepot.core.errors import ConfigError
from gluepot.core.sockets import is_loopback

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
LOGIN = "/login"
STATIC = "/static/"
SHORTEST_TOKEN = 16


def checked_token(host: str, given: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the token that readers must send; None if none is needed.

    Args:
        host: address to listen on.
        given: the token, or a reference to it: `file:/path` or `env:NAME`.
        environ: the environment in which `env:` looks.

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


@dataclass(frozen=True, slots=True)
class Access:
    """Checks what readers send.

    Args:
        token: the token; None if none is needed.
    """

    token: str | None = field(default=None, repr=False)

    @property
    def cookie_name(self) -> str:
        """Name of the cookie. It depends on the token, because browsers share cookies between all ports of a host."""
        return f"gluepot_{self._made('cookie name')[:12]}"

    def cookie_for(self, given: str) -> str | None:
        """Return the cookie for a reader who entered the right token; None for any other text."""
        if self.token is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        return self._made("cookie")

    def allows(self, authorization: bytes, cookies: bytes) -> bool:
        """Tell whether the headers of a request show that its sender has the token.

        Args:
            authorization: the Authorization header of the request; empty if there is none.
            cookies: the Cookie header of the request; empty if there is none.
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
    """Passes on requests that are bare probes, or whose sender has the token.

    Args:
        app: the application that answers.
        access: checks the token.
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
