"""Loads the page's templates and static files into memory."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gluepot.ops.page import figures

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would make browsers hide the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FOLDERS = ("static", "static/vendor")


@dataclass(frozen=True, slots=True)
class StaticFile:
    """The content and type of a static file."""

    body: bytes
    content_type: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return style, scripts and icon by name."""
    root = files(__package__)
    found = {}
    for folder in _FOLDERS:
        for file in root.joinpath(folder).iterdir():
            if file.is_file() and not file.name.endswith(".txt"):
                kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                found[file.name] = StaticFile(file.read_bytes(), kind)
    return found


@cache
def templates() -> Environment:
    """Return the templates. They escape every value that they print, and a missing value is an error."""
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
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
    tags = {name: hashlib.sha256(file.body).hexdigest()[:12] for name, file in static_files().items()}
    environment.globals["asset"] = lambda name: f"/static/{name}?{tags[name]}"
    return environment
