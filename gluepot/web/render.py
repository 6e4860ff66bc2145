"""Loads templates and static files of pages into memory, and has the headers of their answers."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.responses import PlainTextResponse, Response

from gluepot.web import figures

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # `no-referrer` would make browsers hide the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FOLDERS = ("static", "static/vendor")
_SHARED = "gluepot.web"
_STATIC_SECS = 86_400


@dataclass(frozen=True, slots=True)
class StaticFile:
    """The content and type of a static file."""

    body: bytes
    content_type: str


@cache
def static_files(package: str) -> Mapping[str, StaticFile]:
    """Return style, scripts and icon by name: those of all pages, and those of the package with the pages."""
    found = {}
    for folder in (files(of).joinpath(one) for of in (_SHARED, package) for one in _FOLDERS):
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.is_file() and not file.name.endswith(".txt"):
                kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                found[file.name] = StaticFile(file.read_bytes(), kind)
    return found


def static_answer(package: str, name: str) -> Response:
    """Return the answer with a static file."""
    file = static_files(package).get(name)
    if file is None:
        return PlainTextResponse("There is no such file.\n", 404, headers=HEADERS)
    headers = {**HEADERS, "Cache-Control": f"private, max-age={_STATIC_SECS}"}
    return Response(file.body, media_type=file.content_type, headers=headers)


@cache
def templates(package: str, static_path: str) -> Environment:
    """Return the templates of a package and those of all pages.

    They escape every value that they print, and a missing value is an error.

    Args:
        package: the package with the folder `templates`.
        static_path: where its static files are served; ends with a slash.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_SHARED)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "count": figures.count,
        "rate": figures.rate,
        "size": figures.size,
        "span": figures.span,
        "share": figures.share,
        "clock_time": figures.clock_time,
        "iso_time": figures.iso_time,
    }
    environment.filters.update(filters)
    tags = {name: hashlib.sha256(file.body).hexdigest()[:12] for name, file in static_files(package).items()}
    environment.globals["asset"] = lambda name: f"{static_path}{name}?{tags[name]}"
    return environment
