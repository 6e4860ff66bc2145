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

from starlette.requests import Request

from gluepot.core.sockets import is_loopback
from gluepot.ops.access import Access
from gluepot.web.requests import Refused, check_same_origin, form_fields, host_name

FIELD = "csrf"


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
        host = host_name(request)
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
        fields = await form_fields(request)
        if self.access.token is not None and self.access.allows(request.headers.get("authorization", "").encode(), b""):
            return fields
        check_same_origin(request)
        if not hmac.compare_digest(fields.get(FIELD, "").encode(), self.secret.encode()):
            raise Refused("The page is older than this run of the job; reload it.")
        return fields


async def login_fields(request: Request) -> dict[str, str]:
    """Return the fields of the form in which a reader gives the token.

    Raises:
        Refused: it does not come from our page.
    """
    check_same_origin(request)
    return await form_fields(request)
