"""Checks which requests may read and which may change something, so that no other web page can act for a reader.

A browser sends its cookies, and reaches this machine's loopback, for any page that it has open. So if no token is
needed, the page is served only under names of this machine: under a name that somebody else points here, another page
would have the same origin. A change needs a request from our own page, with a secret that only our page has. A program
that sends the job's token in a header needs neither, because browsers never send that header by themselves.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request

from gluepot.ops.access import Access, is_loopback

FIELD = "csrf"
MOST_FORM_BYTES = 4_096


class Refused(Exception):
    """A request that is not carried out.

    Args:
        sentence: the message for its sender.
        status: HTTP status of the answer.
    """

    def __init__(self, sentence: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides about requests to the page.

    Args:
        access: decides who may read; without a token, the host name must be one of this machine.
        secret: the secret in the forms of our page; a new one for each run.
    """

    access: Access
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def check_host(self, request: Request) -> None:
        """Raise `Refused` for a host name under which another page could reach us."""
        host = _host_name(request.headers.get("host", ""))
        if self.access.token is None and not is_loopback(host):
            raise Refused(
                f"This page answers to 127.0.0.1 and localhost, not to {host!r}; set GLUEPOT_METRICS_TOKEN to reach it"
                " by another name.",
                421,
            )

    async def form(self, request: Request) -> dict[str, str]:
        """Return the fields of a request that may change something.

        Raises:
            Refused: it does not come from our page.
        """
        self.check_host(request)
        fields = await _fields(request)
        if self.access.token is not None and self.access.allows(request.headers.get("authorization", "").encode(), b""):
            return fields
        check_same_origin(request)
        if not hmac.compare_digest(fields.get(FIELD, "").encode(), self.secret.encode()):
            raise Refused("The page is older than this run of the job; reload it.")
        return fields


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # a closing bracket is missing
        return ""


def check_same_origin(request: Request) -> None:
    """Raise `Refused` unless the browser's headers say that one of our own pages sent the request."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin", "")
    if site != "same-origin" or origin not in {
        f"{scheme}://{request.headers.get('host')}" for scheme in ("http", "https")
    }:
        raise Refused("The request does not come from the page of this job.")


async def _fields(request: Request) -> dict[str, str]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_FORM_BYTES:
            raise Refused(f"A form has at most {MOST_FORM_BYTES:,} bytes.", 413)
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


async def login_fields(request: Request) -> dict[str, str]:
    """Return the fields of the form in which a reader gives the token.

    Raises:
        Refused: it does not come from our page.
    """
    check_same_origin(request)
    return await _fields(request)
