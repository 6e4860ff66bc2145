"""Who may read: loopback is open, any other address needs a token; probes that say yes or no are open."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from catalog.connections.references import resolve
from etlcore.errors import ConfigError

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
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
    """Tell whether an address is reached from this machine alone; names other than `localhost` may change."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class TokenRequired:
    """Lets a request through that is a bare probe, or brings `Authorization: Bearer TOKEN`.

    Args:
        app: what answers.
        token: the token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 to everybody else."""
        if scope["type"] != "http" or self._may(scope):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "Send `Authorization: Bearer` with the token of the job.\n", 401, {"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        if scope["path"] in PROBES and not scope["query_string"]:
            return True
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, self._expected)
