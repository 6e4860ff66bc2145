"""Whether the records of a JSON file are lines, as its beginning tells.

Only the first bytes decide, so that all tasks that read pieces of a file decide alike. Lines may be objects, several
objects, or arrays of objects. A broken line does not make a file one of documents; an object or array that begins on a
line and ends on a later one does.
"""

from __future__ import annotations

import re

import orjson

from gluepot.connectors.files.formats.json.cutter import cut
from gluepot.connectors.files.formats.text_lines import BOM

# As many bytes decide.
HEAD_BYTES = 64 << 10
_SPACE = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?')
_ARRAY = re.compile(rb"\[\s*(?:[{\[\]]|$)")
# Lines that open an object and do not close it; if so many do not become documents, no later one is tried.
_MOST_OPEN_LINES = 32


def begins_array(line: bytes) -> bool:
    """Return whether a line begins an array of objects."""
    return _ARRAY.match(line) is not None


def spreads_over_lines(head: bytes, *, is_whole: bool) -> bool:
    """Return whether records of a file spread over lines.

    Args:
        head: its first `HEAD_BYTES`.
        is_whole: whether the file has no more.
    """
    head = head.removeprefix(BOM)
    if not is_whole:
        if b"\n" not in head:
            return _is_long_line_of_records(head)
        head = head[: head.rfind(b"\n") + 1]
    if head.startswith(b"{") and head.count(b"}\n{") + head.endswith(b"}\n") == head.count(b"\n"):
        return False
    lines = [line for line in head.split(b"\n") if not line.isspace() and line]
    open_lines = 0
    for index, line in enumerate(lines):
        text = line.strip(_SPACE)
        if not text.startswith((b"{", b"[")) or _opened(text) <= 0:
            continue
        if text.startswith(b"[") and begins_array(text):
            return True
        open_lines += 1
        if open_lines > _MOST_OPEN_LINES:
            return False
        if text.startswith(b"{") and _is_document(lines[index:], is_whole=is_whole):
            return True
    return False


def _is_long_line_of_records(head: bytes) -> bool:
    """Return whether a line that is longer than the head has more than one record."""
    text = head.lstrip(_SPACE)
    return begins_array(text) or (text.startswith(b"{") and len(cut(text)) > 1)


def _is_document(lines: list[bytes], *, is_whole: bool) -> bool:
    """Return whether the first lines are one object, or the beginning of one that is longer than the head."""
    depth = 0
    for index, line in enumerate(lines):
        depth += _opened(line)
        if depth <= 0:
            return _is_json(b"\n".join(lines[: index + 1])) or not _holds_record(lines[1 : index + 1])
    return not is_whole and not _holds_record(lines[1:])


def _holds_record(lines: list[bytes]) -> bool:
    return any(line.strip(_SPACE).startswith(b"{") and _is_json(line) for line in lines)


def _opened(line: bytes) -> int:
    """Return how many more brackets a line opens than it closes."""
    text = _STRING.sub(b"", line)
    return text.count(b"{") + text.count(b"[") - text.count(b"}") - text.count(b"]")


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
