"""Schemas in JSON Schema, drafts 4, 6 and 7. Pure.

A reader can read what a writer writes if each document that the writer's schema describes is valid by the reader's. No
algorithm decides this for all schemas, so keywords are compared one by one; what cannot be compared must be equal.

One rule is more lenient than the strict one. A property that only the reader's schema describes is taken to be absent
from the writer's documents, unless the writer's schema says what additional properties are like. Otherwise no schema
could get an optional property, because schemas of JSON are open unless they say that they are closed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema
from referencing.exceptions import Unresolvable

from gluepot.core.patterns.expressions import expression
from gluepot.core.patterns.syntax import Invalid
from gluepot.service.schemas.problems import SchemaProblem

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_DRAFTS: Mapping[str, Any] = {
    "http://json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
}
# Nested alternatives multiply; a schema of a thousand properties needs a few thousand comparisons.
_MOST_COMPARISONS = 20_000
_SELECTORS = ("anyOf", "oneOf", "allOf", "$ref")
# Words of the reader's schema that are only accepted where the writer's schema has the same.
_EQUAL = ("not", "if", "then", "else", "contains", "propertyNames", "dependencies", "patternProperties")
_EQUAL_TEXTS = ("pattern", "format", "contentEncoding", "contentMediaType")
_LOWER = (("minLength", "string"), ("minItems", "array"), ("minProperties", "object"))
_UPPER = (("maxLength", "string"), ("maxItems", "array"), ("maxProperties", "object"))
_WORDS_OF_TYPES: Mapping[str, str] = {
    "pattern": "string",
    "format": "string",
    "contentEncoding": "string",
    "contentMediaType": "string",
    "contains": "array",
    "propertyNames": "object",
    "dependencies": "object",
    "patternProperties": "object",
}


def check(text: str) -> None:
    """Check a schema.

    Raises:
        SchemaProblem: it is not a schema of one of the drafts, or refers to something that it does not contain.
    """
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise SchemaProblem(f"It is not JSON: {error}.") from None
    except RecursionError:
        raise SchemaProblem("It is nested too deeply.") from None
    if not isinstance(plain, (dict, bool)):
        raise SchemaProblem("A schema is a JSON object.")
    draft = _draft(plain)
    try:
        draft.check_schema(plain)
    except jsonschema.SchemaError as error:
        raise SchemaProblem(f"{error.message} at /{'/'.join(map(str, error.absolute_path))}.") from None
    except RecursionError:
        raise SchemaProblem("It is nested too deeply.") from None
    for reference in _references(plain):
        _resolved(plain, reference)


def why_unreadable(reader: str, writer: str) -> str | None:
    """Return why readers with one schema cannot read documents of another one; None if they can.

    Args:
        reader: a valid schema.
        writer: a valid schema.
    """
    of_reader, of_writer = json.loads(reader), json.loads(writer)
    try:
        _Comparison(of_reader, of_writer).check(of_reader, of_writer, "")
    except _Unreadable as found:
        return str(found)
    except (RecursionError, SchemaProblem, Unresolvable):
        return "The schemas cannot be compared, because their references do not end."
    return None


class _Unreadable(Exception):
    """A document of the writer may be invalid by the reader's schema."""


class _Comparison:
    """Compares two schemas.

    Args:
        reader: the root of the reader's schema.
        writer: the root of the writer's.
    """

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer
        self._validator = _draft(reader)
        self._same_roots = _plain(reader) == _plain(writer)
        self._seen: dict[tuple[str, str], None] = {}
        self._left = _MOST_COMPARISONS

    def check(self, reader: Any, writer: Any, path: str) -> None:
        """Raise if a document of the writer may be invalid for the reader.

        Args:
            reader: a part of the reader's schema.
            writer: a part of the writer's.
            path: where the documents have what both describe.
        """
        if reader is True or reader == {} or writer is False:
            return
        if reader is False:
            raise _Unreadable(f"{_at(path)} is not allowed.")
        pair = (_plain(reader), _plain(writer))
        if pair[0] == pair[1] and (self._same_roots or "$ref" not in pair[0]):
            return
        if pair in self._seen:  # schemas that refer to themselves: what is assumed here is proved by the caller
            return
        self._left -= 1
        if self._left < 0:
            raise _Unreadable("The schemas are too large to be compared.")
        before = len(self._seen)
        self._seen[pair] = None
        try:
            self._check(reader, {} if writer is True else writer, path)
        except _Unreadable:
            while len(self._seen) > before:  # what was found since may rest on this pair
                self._seen.popitem()
            raise

    def _check(self, reader: Mapping[str, Any], writer: Mapping[str, Any], path: str) -> None:
        if "$ref" in reader:
            return self.check(_resolved(self._reader, reader["$ref"]), writer, path)
        if "$ref" in writer:
            return self.check(reader, _resolved(self._writer, writer["$ref"]), path)
        if (values := _values(writer)) is not None:
            return self._check_values(reader, values, path)
        if "allOf" in reader:
            for one in (*reader["allOf"], {word: one for word, one in reader.items() if word != "allOf"}):
                self.check(one, writer, path)
            return None
        for name in ("anyOf", "oneOf"):
            if name in writer:
                rest = {word: one for word, one in writer.items() if word != name}
                for one in writer[name]:
                    self._check_either(reader, _both(rest, one), path, alternatives=(rest, one))
                return None
        if "allOf" in writer:
            rest = {word: one for word, one in writer.items() if word != "allOf"}
            merged: Any = rest
            for one in writer["allOf"]:
                merged = _both(merged, one)
            return self._check_either(reader, merged, path, alternatives=(rest, *writer["allOf"]))
        types = _types(writer)
        if len(types) > 1 and any(name in reader for name in ("anyOf", "oneOf")):
            for one in types:
                self.check(reader, {**writer, "type": one}, path)
            return None
        return self._check_words(reader, writer, path)

    def _check_either(self, reader: Mapping[str, Any], merged: Any, path: str, alternatives: Sequence[Any]) -> None:
        """Compare with a schema that is the conjunction of others, or with one of these where it cannot be written."""
        if merged is not None:
            return self.check(reader, merged, path)
        first: _Unreadable | None = None
        for one in alternatives:
            try:
                return self.check(reader, one, path)
            except _Unreadable as found:
                first = first or found
        raise first or _Unreadable(f"{_at(path)} cannot be compared.")

    def _check_values(self, reader: Mapping[str, Any], values: Sequence[Any], path: str) -> None:
        root = self._reader if isinstance(self._reader, dict) else {}
        # The definitions of the root make references of the part resolvable.
        whole = {**{name: root[name] for name in ("definitions", "$schema") if name in root}, **reader}
        validator = self._validator(whole)
        for value in values:
            try:
                valid = validator.is_valid(value)
            except Unresolvable:
                valid = False
            if not valid:
                raise _Unreadable(f"{_at(path)} may be {json.dumps(value)[:100]}, which is not valid.")

    def _check_words(self, reader: Mapping[str, Any], writer: Mapping[str, Any], path: str) -> None:
        types = _types(writer)
        if missing := [one for one in types if not _has_type(_types(reader), one)]:
            raise _Unreadable(f"{_at(path)} may be of the type {missing[0]}, which is not valid.")
        if _values(reader) is not None:
            raise _Unreadable(f"{_at(path)} may have other values than {json.dumps(_values(reader))[:100]}.")
        for name in ("anyOf", "oneOf"):
            if name in reader:
                self._check_branches(reader[name], writer, path, only_one=name == "oneOf")
        for name in (*_EQUAL, *_EQUAL_TEXTS):
            of_type = _WORDS_OF_TYPES.get(name)
            if name in reader and reader[name] != writer.get(name) and (of_type is None or of_type in types):
                raise _Unreadable(f"{_at(path)}: {name} differs, and cannot be compared.")
        _check_bounds(reader, writer, types, path)
        if "array" in types:
            self._check_items(reader, writer, path)
        if "object" in types:
            self._check_properties(reader, writer, path)

    def _check_branches(self, branches: Sequence[Any], writer: Mapping[str, Any], path: str, *, only_one: bool) -> None:
        first: _Unreadable | None = None
        for branch in branches:
            try:
                self.check(branch, writer, path)
            except _Unreadable as found:
                first = first or found
                continue
            if only_one and not self._others_differ(branches, branch):
                raise _Unreadable(f"{_at(path)}: alternatives of oneOf may overlap, and cannot be compared.")
            return
        raise _Unreadable(f"{_at(path)} fits none of the alternatives; {first}")

    def _others_differ(self, branches: Sequence[Any], chosen: Any) -> bool:
        """Return whether the other alternatives are of other types, or have another value in the same property."""
        others = [self._followed(one) for one in branches if one is not chosen]
        own = self._followed(chosen)
        return all(_are_disjoint(own, one) for one in others)

    def _followed(self, schema: Any) -> Any:
        for _ in range(20):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = _resolved(self._reader, schema["$ref"])
        return schema

    def _check_items(self, reader: Mapping[str, Any], writer: Mapping[str, Any], path: str) -> None:
        below = f"{path}/*"
        if reader.get("uniqueItems") and not writer.get("uniqueItems") and writer.get("maxItems", math.inf) > 1:
            raise _Unreadable(f"{_at(path)} may have equal items.")
        of_reader, of_writer = reader.get("items", True), writer.get("items", True)
        count = max(len(one) for one in (of_reader, of_writer, ()) if isinstance(one, (list, tuple)))
        for at in range(min(count, writer.get("maxItems", count))):
            self.check(_item(reader, at), _item(writer, at), f"{path}/{at}")
        if writer.get("maxItems", math.inf) > count:
            self.check(_item(reader, count), _item(writer, count), below)

    def _check_properties(self, reader: Mapping[str, Any], writer: Mapping[str, Any], path: str) -> None:
        if missing := [one for one in _required(reader) if one not in _required(writer)]:
            raise _Unreadable(f"{_at(f'{path}/{missing[0]}')} is required and may be absent.")
        of_reader, of_writer = reader.get("properties", {}), writer.get("properties", {})
        patterns = writer.get("patternProperties", {})
        further = writer.get("additionalProperties", True)
        for name, one in of_reader.items():
            matching = [schema for pattern, schema in patterns.items() if _matches(pattern, name)]
            if name in of_writer:
                self.check(one, of_writer[name], f"{path}/{name}")
            elif matching:
                self.check(one, matching[0], f"{path}/{name}")
            elif further not in (True, {}) or name in _required(writer):
                self.check(one, further, f"{path}/{name}")
        for name, one in of_writer.items():
            if name not in of_reader:
                self.check(_additional(reader, name), one, f"{path}/{name}")
        self.check(reader.get("additionalProperties", True), further, f"{path}/*")
        for pattern, one in patterns.items():
            if pattern not in reader.get("patternProperties", {}):
                self.check(reader.get("additionalProperties", True), one, f"{path}/{pattern}")


def _check_bounds(reader: Mapping[str, Any], writer: Mapping[str, Any], types: Sequence[str], path: str) -> None:
    for names, sign in ((_LOWER, 1), (_UPPER, -1)):
        for name, of_type in names:
            if name not in reader or of_type not in types or (sign == 1 and reader[name] == 0):
                continue
            if name not in writer or sign * writer[name] < sign * reader[name]:
                raise _Unreadable(f"{_at(path)}: {name} is {reader[name]}, and was {writer.get(name, 'not limited')}.")
    if not {"integer", "number"} & set(types):
        return
    for side, sign in (("minimum", 1), ("maximum", -1)):
        wanted, given = _bound(reader, side), _bound(writer, side)
        if wanted is None:
            continue
        if given is None or (sign * given[0], given[1]) < (sign * wanted[0], wanted[1]):
            raise _Unreadable(f"{_at(path)}: {side} is {wanted[0]}, and was {given[0] if given else 'not limited'}.")
    step, of_writer = reader.get("multipleOf"), writer.get("multipleOf")
    if "integer" in types and "number" not in types and of_writer is None:
        of_writer = 1
    if step is not None and (of_writer is None or of_writer % step != 0):
        raise _Unreadable(f"{_at(path)} may be something else than a multiple of {step}.")


def _bound(schema: Mapping[str, Any], side: str) -> tuple[float, bool] | None:
    """Return a limit of numbers, and whether the number itself is beyond it; None if there is no limit."""
    exclusive = schema.get(f"exclusive{side.capitalize()}")
    limit = schema.get(side)
    if isinstance(exclusive, bool):  # draft 4
        return None if limit is None else (limit, exclusive)
    if exclusive is None:
        return None if limit is None else (limit, False)
    sign = 1 if side == "minimum" else -1
    if limit is None or sign * exclusive >= sign * limit:
        return exclusive, True
    return limit, False


def _both(first: Any, second: Any) -> Any:
    """Return a schema for what two schemas describe; None if it cannot be written without a conjunction."""
    if first is True or first == {}:
        return second
    if second is True or second == {}:
        return first
    if first is False or second is False:
        return False
    if any(name in one for one in (first, second) for name in _SELECTORS) or set(first) & set(second):
        return None
    if {"properties", "additionalProperties", "patternProperties"} & set(first) and {
        "properties",
        "additionalProperties",
        "patternProperties",
    } & set(second):
        return None  # additionalProperties look at the properties beside them only
    return {**first, **second}


def _are_disjoint(first: Any, second: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first is False or second is False
    some, others = _types(first), _types(second)
    if not any(_has_type(others, one) for one in some) and not any(_has_type(some, one) for one in others):
        return True
    for name in set(_required(first)) & set(_required(second)):
        values = [_values(one.get("properties", {}).get(name)) for one in (first, second)]
        if None not in values and not any(_same(a, b) for a in values[0] or () for b in values[1] or ()):
            return True
    return False


def _same(first: Any, second: Any) -> bool:
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def _values(schema: Any) -> list[Any] | None:
    """Return all values that a schema may allow; None if they are not listed."""
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return list(found) if isinstance(found, list) else None


def _types(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("type")
    if found is None:
        return [one for one in _TYPES if one != "integer"]
    return [found] if isinstance(found, str) else list(found)


def _has_type(types: Sequence[str], wanted: str) -> bool:
    return wanted in types or (wanted == "integer" and "number" in types)


def _required(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("required", [])
    return found if isinstance(found, list) else []


def _item(schema: Mapping[str, Any], at: int) -> Any:
    items = schema.get("items", True)
    if not isinstance(items, list):
        return items
    return items[at] if at < len(items) else schema.get("additionalItems", True)


def _additional(schema: Mapping[str, Any], name: str) -> Any:
    """Return what a schema says about a property that it does not list."""
    for pattern, one in schema.get("patternProperties", {}).items():
        if _matches(pattern, name):
            return one
    return schema.get("additionalProperties", True)


def _matches(pattern: str, name: str) -> bool:
    try:
        return expression(pattern).occurs(name)
    except Invalid:
        return False


def _draft(schema: Any) -> Any:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return jsonschema.Draft7Validator
    if (found := _DRAFTS.get(str(named).rstrip("#"))) is None:
        raise SchemaProblem(f"$schema is {named!r}; use draft-04, draft-06 or draft-07.")
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _references(one)
    elif isinstance(schema, dict):
        for name, one in schema.items():
            if name == "$ref" and isinstance(one, str):
                yield one
            elif name not in {"enum", "const", "default", "examples"}:
                yield from _references(one)


def _resolved(root: Any, reference: str) -> Any:
    """Return what a reference means.

    Raises:
        SchemaProblem: it leads out of the schema, or to nothing.
    """
    if not reference.startswith("#"):
        raise SchemaProblem(f"$ref is {reference!r}; a schema may only refer to its own parts, as #/definitions/NAME.")
    found = root
    for word in filter(None, reference[1:].split("/")):
        name = word.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise SchemaProblem(f"$ref is {reference!r}, which the schema does not have.") from None
    return found


def _plain(schema: Any) -> str:
    return json.dumps(schema, sort_keys=True)


def _at(path: str) -> str:
    return path or "The document"
