"""Schemas of Protocol Buffers, by the rules of their wire format for updating a message. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gluepot.frames.registered.proto_text import ProtoFile, ProtoMessage, ProtoProblem, parsed
from gluepot.service.schemas.problems import SchemaProblem

_WORD = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[\w.+-]+|[^\s\w]", re.DOTALL)
# Values of the types of one row have the same bytes.
_SAME_BYTES = (
    {"int32", "uint32", "int64", "uint64", "bool"},
    {"sint32", "sint64"},
    {"fixed32", "sfixed32"},
    {"fixed64", "sfixed64"},
    {"string", "bytes"},
    {"float"},
    {"double"},
)


def check(text: str) -> None:
    """Check a schema.

    Raises:
        SchemaProblem: it is not a schema of Protocol Buffers, or names a type that it does not define.
    """
    try:
        parsed(text)
    except ProtoProblem as problem:
        raise SchemaProblem(str(problem)) from problem


def why_unreadable(reader: str, writer: str) -> str | None:
    """Return why readers with one schema cannot read records of another one; None if they can.

    Args:
        reader: a valid schema.
        writer: a valid schema.
    """
    new, old = parsed(reader), parsed(writer)
    return next(_problems(new, old), None)


def words(text: str) -> list[str]:
    """Return the words of a schema, without comments."""
    return [word for word in _WORD.findall(text) if not word.startswith(("//", "/*"))]


def _problems(reader: ProtoFile, writer: ProtoFile) -> Iterator[str]:
    if reader.package != writer.package:
        yield f"The package is {reader.package!r}, and was {writer.package!r}."
        return
    for name, old in writer.messages.items():
        if (new := reader.messages.get(name)) is None:
            yield f"The message {name} is missing."
        else:
            yield from _message_problems(name, new, old, reader, writer)
    for name in writer.enums:
        if name not in reader.enums:
            yield f"The enumeration {name} is missing."


def _message_problems(
    name: str, reader: ProtoMessage, writer: ProtoMessage, new: ProtoFile, old: ProtoFile
) -> Iterator[str]:
    for number, wanted in reader.fields.items():
        given = writer.fields.get(number)
        title = f"The field {wanted.name} = {number} of {name}"
        if given is None:
            if wanted.label == "required":
                yield f"{title} is required and may be absent."
            continue
        if wanted.label == "required" and given.label != "required":
            yield f"{title} is required, and was not."
        if (wanted.label in {"repeated", "map"} or given.label in {"repeated", "map"}) and wanted.label != given.label:
            yield f"{title} is {wanted.label or 'singular'}, and was {given.label or 'singular'}."
        if not _same_bytes(wanted.type, given.type, new, old):
            yield f"{title} is of the type {wanted.type}, and was {given.type}."
    for oneof in {one.oneof for one in reader.fields.values() if one.oneof}:
        moved = [
            number
            for number, one in reader.fields.items()
            if one.oneof == oneof and number in writer.fields and writer.fields[number].oneof != oneof
        ]
        was_in = {writer.fields[number].oneof for number in moved}
        stayed = any(
            one.oneof == oneof and number not in moved
            for number, one in reader.fields.items()
            if number in writer.fields
        )
        if (len(moved) > 1 and (len(was_in) > 1 or was_in == {""})) or (moved and stayed):
            yield f"Fields of {name} that could be set together are now in the oneof {oneof}."


def _same_bytes(new: str, old: str, reader: ProtoFile, writer: ProtoFile) -> bool:
    if new == old:
        return True
    if "," in new or "," in old:  # key and value of a map
        if "," not in new or "," not in old:
            return False
        return all(_same_bytes(a, b, reader, writer) for a, b in zip(new.split(","), old.split(","), strict=True))
    plain = "int32" if new in reader.enums else new, "int32" if old in writer.enums else old
    if new in reader.enums and old in writer.enums:
        return False
    return any(plain[0] in row and plain[1] in row for row in _SAME_BYTES)
