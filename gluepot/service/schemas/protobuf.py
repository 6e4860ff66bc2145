"""Schemas of Protocol Buffers, by the rules of their wire format for updating a message. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from gluepot.service.schemas.problems import SchemaProblem

_Node: TypeAlias = Any  # a lark Tree or Token; lark's own types say no more than that

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
_SCALARS = frozenset().union(*_SAME_BYTES)
_KEYS = _SCALARS - {"float", "double", "bytes"}
_MOST_NUMBER = 536_870_911
_RESERVED_NUMBERS = range(19_000, 20_000)
# These types come with every compiler.
_WELL_KNOWN = "google.protobuf."


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    label: str  # `required`, `optional`, `repeated`, `map` or empty
    type: str  # a scalar, or the full name of a message or an enumeration
    oneof: str = ""


@dataclass(slots=True)
class _Message:
    fields: dict[int, _Field] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _File:
    syntax: str = "proto2"
    package: str = ""
    messages: dict[str, _Message] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)


def check(text: str) -> None:
    """Check a schema.

    Raises:
        SchemaProblem: it is not a schema of Protocol Buffers, or names a type that it does not define.
    """
    _parsed(text)


def why_unreadable(reader: str, writer: str) -> str | None:
    """Return why readers with one schema cannot read records of another one; None if they can.

    Args:
        reader: a valid schema.
        writer: a valid schema.
    """
    new, old = _parsed(reader), _parsed(writer)
    return next(_problems(new, old), None)


def words(text: str) -> list[str]:
    """Return the words of a schema, without comments."""
    return [word for word in _WORD.findall(text) if not word.startswith(("//", "/*"))]


def _problems(reader: _File, writer: _File) -> Iterator[str]:
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


def _message_problems(name: str, reader: _Message, writer: _Message, new: _File, old: _File) -> Iterator[str]:
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


def _same_bytes(new: str, old: str, reader: _File, writer: _File) -> bool:
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


def _parsed(text: str) -> _File:
    try:
        tree: _Node = _lark().parse(text)
    except UnexpectedInput as error:
        raise SchemaProblem(_told(error)) from None
    except RecursionError:
        raise SchemaProblem("It is nested too deeply.") from None
    file = _File()
    for node in tree.children:
        if node.data == "syntax":
            file.syntax = str(node.children[0])[1:-1]
        elif node.data == "package":
            file.package = _name(node.children[0])
        elif node.data == "import":
            file.imports.append(str(node.children[-1])[1:-1])
    if file.syntax not in {"proto2", "proto3"}:
        raise SchemaProblem(f"syntax is {file.syntax!r}; use proto2 or proto3.")
    for node in tree.children:
        _add(file, node, file.package)
    if not file.messages:
        raise SchemaProblem("It has no message.")
    _resolve(file)
    return file


def _add(file: _File, node: _Node, scope: str) -> None:
    if node.data == "message":
        _add_message(file, node, scope)
    elif node.data == "enum":
        name = _below(scope, str(node.children[0]))
        values = {str(one.children[0]): int(str(one.children[1]), 0) for one in node.find_data("enum_value")}
        _check_new(file, name)
        if not values:
            raise SchemaProblem(f"The enumeration {name} has no value.")
        if file.syntax == "proto3" and next(iter(values.values())) != 0:
            raise SchemaProblem(f"The first value of the enumeration {name} must be 0 in proto3.")
        file.enums[name] = values
    elif node.data == "extensions":
        raise SchemaProblem("It has extensions, which a schema of a registry may not have.")


def _add_message(file: _File, node: _Node, scope: str) -> None:
    name = _below(scope, str(node.children[0]))
    _check_new(file, name)
    message = file.messages[name] = _Message()
    for part in node.children[1:]:
        match part.data:
            case "field":
                label, kind, field_name, number = part.children[:4]
                label = str(label or "")
                if label == "required" and file.syntax == "proto3":
                    raise SchemaProblem(f"The field {field_name} of {name} is required, which proto3 does not have.")
                if not label and file.syntax == "proto2":
                    raise SchemaProblem(f"The field {field_name} of {name} needs optional, required or repeated.")
                _add_field(message, name, number, _Field(str(field_name), label, _type(kind)))
            case "map_field":
                key, value, field_name, number = part.children[:4]
                if _type(key) not in _KEYS:
                    raise SchemaProblem(f"The map {field_name} of {name} cannot have keys of the type {_type(key)}.")
                _add_field(message, name, number, _Field(str(field_name), "map", f"{_type(key)},{_type(value)}"))
            case "oneof":
                for one in part.find_data("oneof_field"):
                    kind, field_name, number = one.children[:3]
                    _add_field(message, name, number, _Field(str(field_name), "", _type(kind), str(part.children[0])))
            case _:
                _add(file, part, name)


def _add_field(message: _Message, of: str, number: _Node, one: _Field) -> None:
    value = int(str(number), 0) if not re.fullmatch(r"0\d+", str(number)) else int(str(number), 8)
    if not 1 <= value <= _MOST_NUMBER or value in _RESERVED_NUMBERS:
        raise SchemaProblem(f"The field {one.name} of {of} has the number {value}, which no field may have.")
    if value in message.fields:
        raise SchemaProblem(f"{of} has two fields with the number {value}.")
    if one.name in message.names:
        raise SchemaProblem(f"{of} has two fields {one.name}.")
    message.fields[value] = one
    message.names.add(one.name)


def _resolve(file: _File) -> None:
    """Replace the types of fields by their full names."""
    for name, message in file.messages.items():
        for number, one in message.fields.items():
            full = ",".join(_full_type(file, word, name, one.name) for word in one.type.split(","))
            message.fields[number] = _Field(one.name, one.label, full, one.oneof)


def _full_type(file: _File, word: str, scope: str, of: str) -> str:
    if word in _SCALARS:
        return word
    if word.startswith("."):
        candidates = [word[1:]]
    else:
        parts = scope.split(".")
        candidates = [_below(".".join(parts[:count]), word) for count in range(len(parts), -1, -1)]
    for one in candidates:
        if one in file.messages or one in file.enums:
            return one
    if word.lstrip(".").startswith(_WELL_KNOWN) and file.imports:
        return word.lstrip(".")
    raise SchemaProblem(f"The field {of} of {scope} is of the type {word}, which the schema does not define.")


def _check_new(file: _File, name: str) -> None:
    if name in file.messages or name in file.enums:
        raise SchemaProblem(f"{name} is defined twice.")


def _below(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _type(node: _Node) -> str:
    return "".join("." if isinstance(one, Token) else _name(one) for one in node.children)


def _name(node: Tree[Token]) -> str:
    return ".".join(map(str, node.children))


def _told(error: UnexpectedInput) -> str:
    at = f"line {error.line}, column {error.column}"
    match error:
        case UnexpectedToken(token=token):
            return f"{str(token)[:50]!r} is not expected at {at}." if str(token) else "It ends too early."
        case UnexpectedCharacters(char=char):
            return f"{char!r} is not expected at {at}."
    return f"It is wrong at {at}."


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("protobuf.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True)
