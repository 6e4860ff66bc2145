"""Checks of where a request comes from, so that no other web page can act for a reader."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gluepot.web.render import HEADERS

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


async def refused(_: Request, error: Exception) -> Response:
    """Answer a request that is not carried out."""
    assert isinstance(error, Refused)  # this handler is registered only for `Refused`
    return PlainTextResponse(f"{error.sentence}\n", error.status, headers=HEADERS)


def host_name(request: Request) -> str:
    """Return the host name under which the browser reached us, without its port; empty if there is none."""
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:  # a closing bracket is missing
        return ""


def check_same_origin(request: Request) -> None:
    """Raise `Refused` unless the browser's headers say that one of our own pages sent the request."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin", "")
    if site != "same-origin" or origin not in {
        f"{scheme}://{request.headers.get('host')}" for scheme in ("http", "https")
    }:
        raise Refused("The request does not come from a page of this server.")


async def form_fields(request: Request, most_bytes: int = MOST_FORM_BYTES) -> dict[str, str]:
    """Return the fields of a form.

    Args:
        request: with the form.
        most_bytes: how large it may be.

    Raises:
        Refused: it is too large.
    """
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most_bytes:
            raise Refused(f"A form has at most {most_bytes:,} bytes.", 413)
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
