"""Requests that are forms and answers that are XML, for services that clients also call with JSON. Pure.

Older versions of boto3, and other SDKs, call CloudWatch like this. The model has both protocols.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from gluepot.service.errors import ServiceError

_ANSWER = """<{name}Response xmlns="{namespace}">{content}
<ResponseMetadata><RequestId>{id}</RequestId></ResponseMetadata></{name}Response>"""

# Names have fewer parts; what is left over is no member of the model.
_DEEPEST = 30
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Tree = dict[str, Any]
"""Members by their names; a value is a text, or a tree of what is below."""


def form_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form."""
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def request_of(form: Mapping[str, str], operation: OperationModel) -> dict[str, Any]:
    """Return the request that a form holds, as JSON would have it.

    Args:
        form: the fields; names of members have dots between them, and members of lists are numbered.
        operation: the operation.

    Raises:
        ServiceError: `MalformedInput`, because a field is not what the model says.
    """
    tree: Tree = {}
    try:
        for path, text in form.items():
            *above, last = path.split(".", _DEEPEST)
            place = tree
            for name in above:
                place = place.setdefault(name, {})
            place[last] = text
        shape = operation.input_shape
        return {} if shape is None else _value(shape, {name: tree[name] for name in tree if name in shape.members})
    except (ValueError, AttributeError, TypeError, KeyError, OverflowError):
        raise ServiceError("MalformedInput", f"The form of {operation.name} is not as the model has it.") from None


def answer_of(answer: Mapping[str, Any], operation: OperationModel, namespace: str, request_id: str) -> str:
    """Return an answer as XML.

    Args:
        answer: as JSON has it.
        operation: the operation.
        namespace: of the service.
        request_id: of the call.
    """
    shape = operation.output_shape
    return enveloped(operation.name, None if shape is None else _xml(shape, answer), namespace, request_id)


def enveloped(name: str, result: str | None, namespace: str, request_id: str) -> str:
    """Return the XML of an answer.

    Args:
        name: of the operation.
        result: the XML of its members; None for an operation that answers nothing.
        namespace: of the service.
        request_id: of the call.
    """
    content = "" if result is None else f"<{name}Result>{result}</{name}Result>"
    return _ANSWER.format(name=name, namespace=namespace, content=content, id=request_id)


def xml_text(text: str) -> str:
    """Return a text as XML has it. Control characters, which XML cannot have, become replacement characters."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def _value(shape: Shape, given: Any) -> Any:
    if isinstance(shape, StructureShape):
        return {name: _value(shape.members[name], one) for name, one in given.items() if name in shape.members}
    if isinstance(shape, ListShape):
        members = given["member"] if given else {}  # an empty list has an empty text
        return [_value(shape.member, members[number]) for number in sorted(members, key=int)]
    if isinstance(shape, MapShape):
        entries = given["entry"] if given else {}
        return {entries[number]["key"]: _value(shape.value, entries[number]["value"]) for number in entries}
    match shape.type_name:
        case "boolean":
            return {"true": True, "false": False}[given]
        case "integer" | "long":
            return int(given)
        case "double" | "float":
            return float(given)
        case "timestamp":
            return datetime.fromisoformat(given).astimezone(UTC).timestamp()
    return given


def _xml(shape: Shape, value: Any) -> str:
    if isinstance(shape, StructureShape):
        return "".join(f"<{name}>{_xml(shape.members[name], one)}</{name}>" for name, one in value.items())
    if isinstance(shape, ListShape):
        return "".join(f"<member>{_xml(shape.member, one)}</member>" for one in value)
    if isinstance(shape, MapShape):
        pairs = ((xml_text(key), _xml(shape.value, one)) for key, one in value.items())
        return "".join(f"<entry><key>{key}</key><value>{one}</value></entry>" for key, one in pairs)
    match shape.type_name:
        case "timestamp":
            return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%dT%H:%M:%SZ}"
        case "string":
            return xml_text(value)
    return json.dumps(value)
