"""Schemas of Protocol Buffers as descriptors of Google's library, and their messages as columns.

An enumeration is a string, with the number as text where the schema does not name it. `google.protobuf.Timestamp` is a
time stamp, a wrapper such as `google.protobuf.Int64Value` is a scalar that may be null, and `google.protobuf.Struct`,
`Value` and `ListValue` are JSON text. A message without fields has no column. An unsigned number of 32 bits is a long,
one of 64 bits a decimal.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.registered.proto_text import SCALARS, ProtoField, ProtoFile, ProtoProblem, parsed

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

_GOOGLES = "google/protobuf/"
_NAME = "schema.proto"
_INSTANT = pa.timestamp("us", tz="UTC")

# Arrow types by the numbers that `FieldDescriptor.type` has (google/protobuf/descriptor.proto).
_TYPES: Final[Mapping[int, pa.DataType]] = {
    1: pa.float64(),
    2: pa.float32(),
    3: pa.int64(),
    4: pa.decimal128(20, 0),  # uint64
    5: pa.int32(),
    6: pa.decimal128(20, 0),  # fixed64
    7: pa.int64(),  # fixed32
    8: pa.bool_(),
    9: pa.string(),
    12: pa.binary(),
    13: pa.int64(),  # uint32
    14: pa.string(),  # enum
    15: pa.int32(),
    16: pa.int64(),
    17: pa.int32(),
    18: pa.int64(),
}
MESSAGE: Final = 11
ENUM: Final = 14
TIMESTAMP: Final = "google.protobuf.Timestamp"
AS_JSON: Final = frozenset({"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"})
WRAPPERS: Final = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)


class ProtoSchema:
    """The messages of one schema.

    Args:
        text: a `.proto` file, or a serialized `FileDescriptorProto` in base64, as registries give it out.
        beside: the files that it imports, by name, each after those that it imports itself.

    Raises:
        ProtoProblem: it cannot be read.
        ConfigError: Google's library is not installed.
    """

    def __init__(self, text: str, beside: Sequence[tuple[str, str]] = ()) -> None:
        try:
            from google.protobuf.descriptor_pool import DescriptorPool  # noqa: PLC0415  an extra
        except ImportError as missing:
            raise ConfigError("Records of Protocol Buffers need protobuf; install gluepot[protobuf].") from missing
        pool = DescriptorPool()
        files = _files(text, beside)
        for name in dict.fromkeys(one for file in files for one in file.dependency if one.startswith(_GOOGLES)):
            _add_googles(pool, name)
        try:
            for file in files:
                pool.Add(file)
            found = pool.FindFileByName(files[-1].name)
        except (TypeError, KeyError, ValueError) as wrong:
            raise ProtoProblem(f"The schema cannot be used: {wrong}.") from wrong
        self._top: list[Descriptor] = list(found.message_types_by_name.values())
        self._by_name = {one.full_name: one for one in _with_nested(self._top)}

    @property
    def names(self) -> Sequence[str]:
        """The full names of all messages, in alphabetical order."""
        return sorted(self._by_name)

    def at(self, path: Sequence[int]) -> str | None:
        """Return the full name of the message at a path of places; None if there is none."""
        found, level = None, self._top
        for place in path:
            if not 0 <= place < len(level):
                return None
            found = level[place]
            level = [one for one in found.nested_types if not one.GetOptions().map_entry]
        return None if found is None else str(found.full_name)

    def message(self, name: str) -> Descriptor:
        """Return a message by its full name."""
        return self._by_name[name]


def columns(message: Descriptor) -> pa.Schema:
    """Return the columns of a message.

    Raises:
        ProtoProblem: it holds itself, or it has no field.
    """
    fields = _fields(message, ())
    if not fields:
        raise ProtoProblem(f"The message {message.full_name} has no fields, so it has no columns.")
    return pa.schema(fields)


def _fields(message: Descriptor, within: tuple[str, ...]) -> list[pa.Field]:
    if message.full_name in within:
        raise ProtoProblem(f"The message {message.full_name} holds itself, which no column can.")
    inner = (*within, message.full_name)
    found = [(one.name, _arrow(one, inner)) for one in message.fields]
    return [pa.field(name, kind) for name, kind in found if kind is not None]


def _arrow(field: FieldDescriptor, within: tuple[str, ...]) -> pa.DataType | None:
    if is_map(field):
        value = _single(message_of(field).fields_by_name["value"], within)
        key = _TYPES[message_of(field).fields_by_name["key"].type]
        return None if value is None else pa.map_(key, value)
    kind = _single(field, within)
    return pa.list_(kind) if kind is not None and field.is_repeated else kind


def _single(field: FieldDescriptor, within: tuple[str, ...]) -> pa.DataType | None:
    if field.type != MESSAGE:
        if field.type not in _TYPES:
            raise ProtoProblem(f"The field {field.full_name} is a group, which is not read.")
        return _TYPES[field.type]
    message = message_of(field)
    name = message.full_name
    if name == TIMESTAMP:
        return _INSTANT
    if name in AS_JSON:
        return pa.string()
    if name in WRAPPERS:
        return _TYPES[message.fields_by_name["value"].type]
    inner = _fields(message, within)
    return pa.struct(inner) if inner else None


def message_of(field: FieldDescriptor) -> Descriptor:
    """Return the message that a field of a message's type holds."""
    assert field.message_type is not None  # None for other types only
    return field.message_type


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return field.type == MESSAGE and bool(message_of(field).GetOptions().map_entry)


def _with_nested(messages: Iterable[Descriptor]) -> Iterable[Descriptor]:
    for one in messages:
        yield one
        yield from _with_nested(one.nested_types)


def _add_googles(pool: Any, name: str) -> None:
    """Add a file that comes with the library, and the files that it imports."""
    try:
        module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except ImportError as missing:
        raise ProtoProblem(f"The schema imports {name}, which is not there.") from missing
    for one in module.DESCRIPTOR.dependencies:
        _add_googles(pool, one.name)
    pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)


def _files(text: str, beside: Sequence[tuple[str, str]]) -> list[FileDescriptorProto]:
    """Return the descriptors of some files and, at last, of the schema."""
    texts: list[ProtoFile] = []
    found = []
    for name, one in (*beside, (_NAME, text)):
        serialized = _serialized(one)
        if serialized is None:
            file = parsed(one, texts)
            texts.append(file)
            serialized = _descriptor(file, [*(name for name, _ in beside)])
        serialized.name = name
        found.append(serialized)
    return found


def _serialized(text: str) -> FileDescriptorProto | None:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto  # noqa: PLC0415  an extra
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return None
    return file if file.message_type or file.enum_type else None


def _descriptor(file: ProtoFile, beside: Sequence[str]) -> FileDescriptorProto:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto  # noqa: PLC0415  an extra

    made = FileDescriptorProto(package=file.package)
    if file.syntax != "proto2":
        made.syntax = file.syntax
    made.dependency.extend(one for one in file.imports if one.startswith(_GOOGLES) or one in beside)
    places: dict[str, Any] = {}
    for name, message in file.messages.items():
        outer, _, own = name.rpartition(".")
        place = places[outer].nested_type.add() if outer in places else made.message_type.add()
        place.name = own
        places[name] = place
        for number, field in message.fields.items():
            _add_field(place, name, number, field, is_proto3=file.syntax == "proto3")
    for name, values in file.enums.items():
        outer, _, own = name.rpartition(".")
        enum = places[outer].enum_type.add() if outer in places else made.enum_type.add()
        enum.name = own
        enum.options.allow_alias = len({*values.values()}) < len(values)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    for place in places.values():
        _add_single_oneofs(place)
    return made


def _add_field(place: DescriptorProto, of: str, number: int, field: ProtoField, *, is_proto3: bool) -> None:
    made = place.field.add(name=field.name, number=number)
    kinds = type(made)
    made.label = kinds.LABEL_OPTIONAL
    if field.label == "map":
        entry = place.nested_type.add(name=_entry_name(field.name))
        entry.options.map_entry = True
        for at, (name, kind) in enumerate(zip(("key", "value"), field.type.split(","), strict=True), 1):
            part = entry.field.add(name=name, number=at, label=kinds.LABEL_OPTIONAL)
            _set_type(part, kind)
        made.label, made.type = kinds.LABEL_REPEATED, kinds.TYPE_MESSAGE
        made.type_name = f".{of}.{entry.name}"
        return
    _set_type(made, field.type)
    if field.label == "repeated":
        made.label = kinds.LABEL_REPEATED
    elif field.label == "required":
        made.label = kinds.LABEL_REQUIRED
    elif field.label == "optional" and is_proto3:
        made.proto3_optional = True
    if field.oneof:
        names = [one.name for one in place.oneof_decl]
        if field.oneof not in names:
            place.oneof_decl.add(name=field.oneof)
            names.append(field.oneof)
        made.oneof_index = names.index(field.oneof)


def _add_single_oneofs(place: DescriptorProto) -> None:
    """Put each optional field of proto3 into a oneof of its own, behind all others, as descriptors have it."""
    for one in place.field:
        if one.proto3_optional:
            one.oneof_index = len(place.oneof_decl)
            place.oneof_decl.add(name=f"_{one.name}")


def _set_type(made: Any, kind: str) -> None:
    if kind in SCALARS:
        made.type = made.Type.Value(f"TYPE_{kind.upper()}")
    else:
        made.type_name = f".{kind}"  # the pool finds out whether it is a message or an enumeration


def _entry_name(name: str) -> str:
    """Return the name of a map's entries, as compilers make it: `item_counts` becomes `ItemCountsEntry`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_")) + "Entry"
