"""Builds the documentation site into build/docs/site: `python -m scripts.site`.

The documents lie where a reader of the repository looks for them, and link to each other and to code. So the site is
built from copies: a link to a document leads to its page, a link to other files leads to the repository's address. A
link that leads nowhere and a warning of the builder are errors.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from gluepot.core.errors import ConfigError, EtlError
from scripts.bootstrap import DOCS, REPOSITORY

BUILD = REPOSITORY / "build" / "docs"
CONFIG = REPOSITORY / "zensical.toml"
ADDRESS = "https://github.com/gluepot/gluepot/blob/main/"
OF_THE_ROOT = {
    "README.md": "project/overview.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
"""The pages of documents that lie outside of docs/."""

WORKER = Path(__file__).parent / "vendor" / "iframe-worker-1.0.4.js"
"""A browser starts no worker for a page that is a file; with this script the search of such a page works."""

_WORKER_ADDRESS = "https://unpkg.com/iframe-worker/shim"
_LOADED = re.compile(
    r'<(?:script|img|iframe)\b[^>]*\bsrc="(https?:[^"]+)"|<link\b[^>]*\brel="(?:stylesheet|preconnect)"[^>]*>'
)
_LINK = re.compile(r"(?<=\]\()(?P<to>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
_CODE = re.compile(r"(^```.*?^```$|``.+?``|`[^`]+`)", re.DOTALL | re.MULTILINE)


def page_of(name: str) -> str | None:
    """Return the path in the site of a file of the repository, or None if it is not part of the site."""
    return OF_THE_ROOT.get(name) or (name.removeprefix("docs/") if name.startswith("docs/") else None)


def with_links_of_the_site(text: str, name: str, exists: Callable[[str], bool]) -> str:
    """Return a document whose links lead to pages of the site or to the repository's address. Pure.

    Args:
        text: the document.
        name: its path in the repository.
        exists: whether a path in the repository is a file.

    Raises:
        ConfigError: the document is no page of the site.
    """
    page = page_of(name)
    if page is None:
        raise ConfigError(f"{name} is no page of the site; it is neither in docs/ nor one of {', '.join(OF_THE_ROOT)}.")

    def moved(link: re.Match[str]) -> str:
        to, anchor = link["to"], link["anchor"] or ""
        if re.match(r"[a-z]+:", to):
            return link[0]
        target = os.path.normpath(PurePosixPath(name).parent / to)
        of_folder = f"{target}/README.md"
        found = next((page_of(one) for one in (target, of_folder) if exists(one) and page_of(one)), None)
        return f"{relative(found, page)}{anchor}" if found else f"{ADDRESS}{target}{anchor}"

    parts = _CODE.split(text)
    return "".join(part if at % 2 else _LINK.sub(moved, part) for at, part in enumerate(parts))


def with_wide_indents(text: str) -> str:
    """Return a document in which what belongs to an item of a list is indented by four spaces. Pure.

    The builder's Markdown demands that, where other readers take the width of the marker.
    """
    lines, width, code = [], 0, False
    for line in text.splitlines():
        code ^= line.startswith("```")
        marker = re.match(r"(?:[-*]|\d+\.) ", line)
        if code or (line and not line[0].isspace() and not marker):
            width = 0
        elif marker:
            width = len(marker[0])
        elif width and line.startswith(" " * width):
            line = " " * 4 + line[width:]  # noqa: PLW2901  the line as it is to be
        lines.append(line)
    return "\n".join(lines) + "\n"


def relative(page: str, start: str) -> str:
    """Return a link to a page from another one, both paths in the site."""
    return os.path.relpath(page, PurePosixPath(start).parent)


def with_folders(config: str, pages_of: Callable[[str], Iterable[str]]) -> str:
    """Return the configuration with the pages of a folder in the place of each folder that `nav` names. Pure.

    Args:
        config: the text of zensical.toml.
        pages_of: the pages of a folder, in order.
    """
    return re.sub(r'"([a-z]+/)"', lambda one: json.dumps(list(pages_of(one[1]))), config)


def unlisted(config: str, pages: Iterable[str]) -> list[str]:
    """Return the pages that the configuration's `nav` does not lead to. Pure."""

    def paths(entry: object) -> Iterable[str]:
        match entry:
            case str():
                yield entry
            case dict():
                for value in entry.values():
                    yield from paths(value)
            case list():
                for one in entry:
                    yield from paths(one)

    listed = set(paths(tomllib.loads(config)["project"]["nav"]))
    return sorted(set(pages) - listed)


def with_own_worker(html: str, page: str) -> str:
    """Return a page that loads nothing from elsewhere. Pure.

    Args:
        html: the page as the builder makes it.
        page: its path in the site.

    Raises:
        ConfigError: the page loads something from elsewhere.
    """
    own = html.replace(_WORKER_ADDRESS, relative(f"assets/javascripts/{WORKER.name}", page))
    if foreign := [one[0] for one in _LOADED.finditer(own) if "http" in one[0]]:
        raise ConfigError(f"{page} loads {', '.join(foreign)}; pages must not load anything from elsewhere.")
    return own


def build() -> Path:
    """Build the site and return its folder.

    Raises:
        ConfigError: a link leads nowhere, a page is missing in `nav`, or the builder warns.
    """
    shutil.rmtree(BUILD, ignore_errors=True)
    pages = BUILD / "pages"
    for path in sorted((REPOSITORY / "docs").rglob("*")):
        if path.is_file() and path.suffix != ".md":
            target = pages / path.relative_to(REPOSITORY / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    names = [str(path.relative_to(REPOSITORY)) for path in sorted((REPOSITORY / "docs").rglob("*.md"))]
    written = []
    for name in (*OF_THE_ROOT, *names):
        page = page_of(name) or ""
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        moved = with_links_of_the_site(text, name, lambda one: (REPOSITORY / one).is_file())
        (pages / page).write_text(with_wide_indents(moved), encoding="utf-8")
        written.append(page)

    config = with_folders(
        CONFIG.read_text(encoding="utf-8"), lambda folder: sorted(page for page in written if page.startswith(folder))
    )
    if missing := unlisted(config, written):
        raise ConfigError(f"No way leads to {', '.join(missing)}; add each to `nav` in {CONFIG.name}.")
    (BUILD / CONFIG.name).write_text(config, encoding="utf-8")
    built = subprocess.run(
        [DOCS / "bin" / "zensical", "build", "--strict", "--clean"],
        capture_output=True,
        check=False,
        cwd=BUILD,
        text=True,
    )
    if built.returncode != 0 or "Warning" in built.stdout + built.stderr:
        raise ConfigError(f"{built.stdout}{built.stderr}\nThe site was not built; mend what the builder says above.")
    site = BUILD / "site"
    shutil.copy(WORKER, site / "assets" / "javascripts" / WORKER.name)
    for path in site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        path.write_text(with_own_worker(html, str(path.relative_to(site))), encoding="utf-8")
    return site


if __name__ == "__main__":
    try:
        print(f"{build()}/index.html")
    except EtlError as error:
        sys.exit(f"error: {error}")
