"""The formats of schemas by name. Their modules are imported when they are first needed. Pure."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import Any, Protocol, cast

from gluepot.service.schemas.problems import SchemaProblem

_MODULES = {"AVRO": "avro_schemas", "JSON": "json_schemas", "PROTOBUF": "protobuf"}


class _Format(Protocol):
    def check(self, text: str) -> None: ...

    def why_unreadable(self, reader: str, writer: str) -> str | None: ...


def problem_of(data_format: str, text: str) -> str | None:
    """Return what is wrong with a schema; None if it is valid.

    Args:
        data_format: `AVRO`, `JSON` or `PROTOBUF`.
        text: the schema.
    """
    try:
        _format(data_format).check(text)
    except SchemaProblem as problem:
        return str(problem) or "It is not valid."
    return None


def why_unreadable(data_format: str, reader: str, writer: str) -> str | None:
    """Return why readers with one schema cannot read records of another one; None if they can.

    Args:
        data_format: of both.
        reader: a valid schema.
        writer: a valid schema.
    """
    return _format(data_format).why_unreadable(reader, writer)


def digest_of(data_format: str, text: str) -> str:
    """Return the same digest for schemas that differ in nothing but the layout of their texts."""
    if data_format == "PROTOBUF":
        from gluepot.service.schemas.protobuf import words  # noqa: PLC0415  the parser is slow to load

        canonical = " ".join(words(text))
    else:
        canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest()


def patch(data_format: str, first: str, second: str) -> str:
    """Return what leads from one schema to another as a JSON patch (RFC 6902)."""
    if data_format == "PROTOBUF":
        return json.dumps([] if first == second else [{"op": "replace", "path": "", "value": second}])
    return json.dumps(_steps(json.loads(first), json.loads(second), ""))


def _steps(old: Any, new: Any, path: str) -> list[dict[str, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        steps = [{"op": "remove", "path": f"{path}/{_escaped(name)}"} for name in old if name not in new]
        for name, one in new.items():
            below = f"{path}/{_escaped(name)}"
            steps += _steps(old[name], one, below) if name in old else [{"op": "add", "path": below, "value": one}]
        return steps
    if isinstance(old, list) and isinstance(new, list):
        shared = min(len(old), len(new))
        steps = [step for at in range(shared) for step in _steps(old[at], new[at], f"{path}/{at}")]
        steps += [{"op": "remove", "path": f"{path}/{at}"} for at in reversed(range(shared, len(old)))]
        return steps + [{"op": "add", "path": f"{path}/{at}", "value": new[at]} for at in range(shared, len(new))]
    same = type(old) is type(new) and old == new  # True equals 1
    return [] if same else [{"op": "replace", "path": path, "value": new}]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _format(data_format: str) -> _Format:
    return cast("_Format", import_module(f"gluepot.service.schemas.{_MODULES[data_format]}"))
