"""XML files: our reader beside a plain reading of the document by `xml.dom.minidom`.

The rules are those of docs/glue 5.2 and docs/limits.md: attributes get a prefix, text beside attributes or children is
in the field of the value tag, what repeats is an array, and a record is an outermost element of the row tag.
"""

from __future__ import annotations

import codecs
from random import Random
from typing import Any
from xml.dom import minidom
from xml.dom.minidom import Node
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape, quoteattr

from gluepot.core.errors import PermanentError
from tests.differential.kind import Difference, Round, World
from tests.unit.files.reading import records

FILES = 100
NAMES = ("row", "a", "b", "A", "item", "_VALUE", "VALUE", "p:a", "é", "x-y", "n.1", "ro")
ATTRIBUTES = ("id", "a", "VALUE", "p:a", "q:a", "xml:lang", "é")
SPACES = ("\n  ", "\t", " ", "\r\n")
TEXTS = (
    "x",
    "1",
    "-0.5",
    "true",
    " y ",
    "",
    " ",
    "\n",
    "<&>\"'",
    "é",
    "漢字",
    "a\nb",
    "\u00a0",
    "]]",
    "NULL",
    "2024-01-02",
)
ENCODINGS = ("utf-8", "utf-8", "utf-8", "iso-8859-1", "utf-16", "utf-8-sig", "us-ascii")


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "xml"
    unit = "files"

    def round(self, random: Random, world: World) -> Round:
        """Compare some files."""
        result = Round()
        folder = world.folder / "files"
        folder.mkdir()
        for _ in range(FILES):
            data = _file(random)
            if random.random() < 0.1:
                data = _damaged(random, data)
            options = _options(random)
            (folder / "a.xml").write_bytes(data)
            ours, plain = _ours(folder, options), _plain_records(data, options)
            result.cases += 1
            result.taken += isinstance(ours, list)
            if ours != plain:
                result.differences.append(Difference(f"{options} {data!r}", repr(ours), repr(plain)))
        return result


def _ours(folder: Any, options: dict[str, Any]) -> Any:
    try:
        return [_pruned(row) for row in records(folder, "xml", **options)]
    except PermanentError:
        return "refused"


def _options(random: Random) -> dict[str, Any]:
    options: dict[str, Any] = {"rowTag": random.choice(["row", "row", "row", "a", "p", "é"])}
    for name, values in (
        ("attributePrefix", ["_", "@", "attr_"]),
        ("valueTag", ["_VALUE", "text"]),
        ("excludeAttribute", [True, False]),
        ("treatEmptyValuesAsNulls", [True, False]),
        ("ignoreSurroundingSpaces", [True, False]),
    ):
        if random.random() < 0.25:
            options[name] = random.choice(values)
    return options


def _file(random: Random) -> bytes:
    encoding = random.choice(ENCODINGS)
    name = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    head = (
        f'<?xml version="1.0" encoding="{name}"?>{_blank(random)}' if name != "utf-8" or random.random() < 0.5 else ""
    )
    if random.random() < 0.1:
        head += f'<!DOCTYPE root [<!ENTITY e "{escape(random.choice(("x", "é y")))}">]>\n'
    has_entity = "<!ENTITY" in head
    body = "".join(_element(random, 0, has_entity=has_entity) + _blank(random) for _ in range(random.randrange(5)))
    root = random.choice(["root", "root", "root", "row"])
    text = f'{head}<{root} xmlns:p="u:p" xmlns:q="u:q">{body}</{root}>{_blank(random)}'
    data = text.encode(name, "xmlcharrefreplace")
    return codecs.BOM_UTF8 + data if encoding == "utf-8-sig" else data


def _element(random: Random, depth: int, *, has_entity: bool) -> str:
    name = random.choice(NAMES) if depth else random.choice(["row", "row", "row", "a", "item"])
    names = random.sample(ATTRIBUTES, random.choice([0, 0, 1, 2]))
    attributes = "".join(f" {key}={quoteattr(random.choice(TEXTS))}" for key in names)
    if random.random() < 0.05:
        attributes += f' xmlns="u:{random.choice("ab")}"'
    if random.random() < 0.1:
        return f"<{name}{attributes}/>"
    parts = []
    for _ in range(random.choice([0, 1, 1, 2, 3, 5])):
        parts.append(_part(random, depth, has_entity=has_entity))
        if random.random() < 0.5:
            parts.append(_blank(random))
    return f"<{name}{attributes}>{''.join(parts)}</{name}{_blank(random) if random.random() < 0.1 else ''}>"


def _part(random: Random, depth: int, *, has_entity: bool) -> str:
    chance = random.random()
    if chance < 0.45 and depth < 4:
        return _element(random, depth + 1, has_entity=has_entity)
    if chance < 0.8:
        return escape(random.choice(TEXTS))
    if chance < 0.86:
        return f"<![CDATA[{random.choice(TEXTS).replace(']]', '')}]]>".encode("ascii", "ignore").decode()
    if chance < 0.92:
        return "<!-- <row>no</row> -->"
    if chance < 0.95:
        return "<?pi row?>"
    return "&e;" if has_entity and chance < 0.98 else random.choice(["&#233;", "&amp;", "&lt;", "&#x4e2d;"])


def _blank(random: Random) -> str:
    return random.choice(SPACES) if random.random() < 0.5 else ""


def _damaged(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data))
    return data[:at] if random.random() < 0.5 else data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def _plain_records(data: bytes, options: dict[str, Any]) -> Any:
    """Read a document by the rules, without any code of the project."""
    try:
        document = minidom.parseString(data)
    except (ExpatError, ValueError, LookupError):
        return "refused"
    rows: list[Any] = []
    _collect(document.documentElement, options, rows)
    document.unlink()
    return rows


def _collect(element: Any, options: dict[str, Any], rows: list[Any]) -> None:
    if _local(element.tagName) == options["rowTag"]:
        value = _value(element, options)
        row = value if isinstance(value, dict) else {options.get("valueTag", "_VALUE"): value}
        rows.append(_pruned(row))
        return
    for child in element.childNodes:
        if child.nodeType == Node.ELEMENT_NODE:
            _collect(child, options, rows)


def _value(element: Any, options: dict[str, Any]) -> Any:
    pairs: list[tuple[str, Any]] = []
    if not options.get("excludeAttribute"):
        prefix = options.get("attributePrefix", "_")
        attributes = [element.attributes.item(number) for number in range(element.attributes.length)]
        pairs += [(prefix + _local(one.name), one.value) for one in attributes if not one.name.startswith("xmlns")]
    children = [child for child in element.childNodes if child.nodeType == Node.ELEMENT_NODE]
    pairs += [(_local(child.tagName), _value(child, options)) for child in children]
    texts = [""]
    for child in element.childNodes:
        if child.nodeType == Node.ELEMENT_NODE:
            texts.append("")
        elif child.nodeType in (Node.TEXT_NODE, Node.CDATA_SECTION_NODE):
            texts[-1] += child.data
    if options.get("ignoreSurroundingSpaces"):
        texts = [text.strip() for text in texts]
    texts = [text for text in texts if (text.strip() if children else text)]
    if not pairs:
        text = texts[0] if texts else ""
        return None if options.get("treatEmptyValuesAsNulls") and not text else text
    pairs += [(options.get("valueTag", "_VALUE"), text) for text in texts]
    fields: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in pairs):
        values = [value for each, value in pairs if each == name]
        fields[name] = values if len(values) > 1 else values[0]
    return fields


def _pruned(value: Any) -> Any:
    """Leave out nulls of structs: an absent field and a null are the same."""
    if isinstance(value, list):
        return [_pruned(each) for each in value]
    if isinstance(value, dict):
        return {name: _pruned(each) for name, each in sorted(value.items()) if each is not None}
    return value


def _local(name: str) -> str:
    return name.rpartition(":")[2]
