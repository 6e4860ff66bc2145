"""The text of a schema of Protocol Buffers (`.proto`) as values. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

_Node: TypeAlias = Any  # a lark Tree or Token; lark's own types say no more than that

SCALARS: Final = frozenset(
    {
        "bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64", "sfixed32", "sfixed64", "sint32",
        "sint64", "string", "uint32", "uint64",
    }
)  # fmt: skip
_KEYS = SCALARS - {"float", "double", "bytes"}
_MOST_NUMBER = 536_870_911
_RESERVED_NUMBERS = range(19_000, 20_000)
# These types come with every compiler.
_WELL_KNOWN = "google.protobuf."


class ProtoProblem(ValueError):
    """A text is not a schema of Protocol Buffers."""


@dataclass(frozen=True, slots=True)
class ProtoField:
    """A field of a message.

    Args:
        name: its name.
        label: `required`, `optional`, `repeated`, `map` or empty.
        type: a scalar, or the full name of a message or an enumeration; of a map, key and value with a comma between.
        oneof: the `oneof` that it belongs to; empty for none.
    """

    name: str
    label: str
    type: str
    oneof: str = ""


@dataclass(slots=True)
class ProtoMessage:
    """A message: its fields by number, in the order of the text, and their names."""

    fields: dict[int, ProtoField] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


@dataclass(slots=True)
class ProtoFile:
    """A schema.

    Args:
        syntax: `proto2` or `proto3`.
        package: empty for none.
        messages: by full name, in the order of the text, each before those inside it.
        enums: numbers by name, by full name.
        imports: the files that it imports.
    """

    syntax: str = "proto2"
    package: str = ""
    messages: dict[str, ProtoMessage] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)


def parsed(text: str, others: Sequence[ProtoFile] = ()) -> ProtoFile:
    """Read a schema.

    Args:
        text: the schema.
        others: files that it may import; their types are known.

    Raises:
        ProtoProblem: it is not a schema of Protocol Buffers, or names a type that it does not define.
    """
    try:
        tree: _Node = _lark().parse(text)
    except UnexpectedInput as error:
        raise ProtoProblem(_told(error)) from None
    except RecursionError:
        raise ProtoProblem("It is nested too deeply.") from None
    file = ProtoFile()
    for node in tree.children:
        if node.data == "syntax":
            file.syntax = str(node.children[0])[1:-1]
        elif node.data == "package":
            file.package = _name(node.children[0])
        elif node.data == "import":
            file.imports.append(str(node.children[-1])[1:-1])
    if file.syntax not in {"proto2", "proto3"}:
        raise ProtoProblem(f"syntax is {file.syntax!r}; use proto2 or proto3.")
    for node in tree.children:
        _add(file, node, file.package)
    if not file.messages and not file.enums:
        raise ProtoProblem("It has no message.")
    _resolve(file, [file, *others])
    return file


def _add(file: ProtoFile, node: _Node, scope: str) -> None:
    if node.data == "message":
        _add_message(file, node, scope)
    elif node.data == "enum":
        name = _below(scope, str(node.children[0]))
        values = {str(one.children[0]): _integer(str(one.children[1])) for one in node.find_data("enum_value")}
        _check_new(file, name)
        if not values:
            raise ProtoProblem(f"The enumeration {name} has no value.")
        if file.syntax == "proto3" and next(iter(values.values())) != 0:
            raise ProtoProblem(f"The first value of the enumeration {name} must be 0 in proto3.")
        file.enums[name] = values
    elif node.data == "extensions":
        raise ProtoProblem("It has extensions, which a schema of a registry may not have.")


def _add_message(file: ProtoFile, node: _Node, scope: str) -> None:
    name = _below(scope, str(node.children[0]))
    _check_new(file, name)
    message = file.messages[name] = ProtoMessage()
    for part in node.children[1:]:
        match part.data:
            case "field":
                label, kind, field_name, number = part.children[:4]
                label = str(label or "")
                if label == "required" and file.syntax == "proto3":
                    raise ProtoProblem(f"The field {field_name} of {name} is required, which proto3 does not have.")
                if not label and file.syntax == "proto2":
                    raise ProtoProblem(f"The field {field_name} of {name} needs optional, required or repeated.")
                _add_field(message, name, number, ProtoField(str(field_name), label, _type(kind)))
            case "map_field":
                key, value, field_name, number = part.children[:4]
                if _type(key) not in _KEYS:
                    raise ProtoProblem(f"The map {field_name} of {name} cannot have keys of the type {_type(key)}.")
                _add_field(message, name, number, ProtoField(str(field_name), "map", f"{_type(key)},{_type(value)}"))
            case "oneof":
                for one in part.find_data("oneof_field"):
                    kind, field_name, number = one.children[:3]
                    _add_field(
                        message, name, number, ProtoField(str(field_name), "", _type(kind), str(part.children[0]))
                    )
            case _:
                _add(file, part, name)


def _integer(text: str) -> int:
    """Return an integer, which is octal if it begins with a zero."""
    try:
        return int(text, 8 if re.fullmatch(r"-?0\d+", text) else 0)
    except ValueError:
        raise ProtoProblem(f"{text} is not an integer.") from None


def _add_field(message: ProtoMessage, of: str, number: _Node, one: ProtoField) -> None:
    value = _integer(str(number))
    if not 1 <= value <= _MOST_NUMBER or value in _RESERVED_NUMBERS:
        raise ProtoProblem(f"The field {one.name} of {of} has the number {value}, which no field may have.")
    if value in message.fields:
        raise ProtoProblem(f"{of} has two fields with the number {value}.")
    if one.name in message.names:
        raise ProtoProblem(f"{of} has two fields {one.name}.")
    message.fields[value] = one
    message.names.add(one.name)


def _resolve(file: ProtoFile, known: Sequence[ProtoFile]) -> None:
    """Replace the types of fields by their full names."""
    for name, message in file.messages.items():
        for number, one in message.fields.items():
            full = ",".join(_full_type(known, word, name, one.name) for word in one.type.split(","))
            message.fields[number] = ProtoField(one.name, one.label, full, one.oneof)


def _full_type(known: Sequence[ProtoFile], word: str, scope: str, of: str) -> str:
    if word in SCALARS:
        return word
    if word.startswith("."):
        candidates = [word[1:]]
    else:
        parts = scope.split(".")
        candidates = [_below(".".join(parts[:count]), word) for count in range(len(parts), -1, -1)]
    for one in candidates:
        if any(one in file.messages or one in file.enums for file in known):
            return one
    if word.lstrip(".").startswith(_WELL_KNOWN) and known[0].imports:
        return word.lstrip(".")
    raise ProtoProblem(f"The field {of} of {scope} is of the type {word}, which the schema does not define.")


def _check_new(file: ProtoFile, name: str) -> None:
    if name in file.messages or name in file.enums:
        raise ProtoProblem(f"{name} is defined twice.")


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
    grammar = Path(__file__).with_name("proto_text.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True)
