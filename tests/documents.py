"""Links and anchors of Markdown documents."""

from __future__ import annotations

import re
from pathlib import Path

_CODE = re.compile(r"^```.*?^```$|``.+?``|`[^`]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.MULTILINE)


def without_code(text: str) -> str:
    """Return a document without its code."""
    return _CODE.sub("", text)


def definitions(text: str) -> dict[str, str]:
    """Return the targets of a document's reference links, by label."""
    return dict(_DEFINITION.findall(text))


def links(text: str) -> list[str]:
    """Return the targets of all links of a document, also those of its reference links."""
    plain = without_code(text)
    return [*_LINK.findall(plain), *definitions(plain).values()]


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {anchor_of(heading) for heading in headings}


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def leads_somewhere(path: Path, link: str) -> bool:
    """Return whether a link of a document names a file or folder that exists, and a heading in it."""
    name, _, anchor = link.partition("#")
    target = path.parent / name if name else path
    return target.exists() and (not anchor or anchor in anchors(target))
