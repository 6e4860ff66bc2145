"""Stores the columns of a read in its bookmark, so that a later read without new files has them. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from gluepot.bookmarks.ledger import Change

_KEY = "schema"
_MOST_TEXT_CHARS = 256 << 10


def with_schema(change: Change, schema: pa.Schema) -> Change:
    """Return a change of a bookmark with the columns in its body, which is a JSON object.

    Each run has its own body, so the columns of thousands of fields are left out.
    """
    text = base64.b64encode(schema.serialize().to_pybytes()).decode()
    if len(text) > _MOST_TEXT_CHARS:
        return change
    return replace(change, body=f'{change.body.rstrip().removesuffix("}")}, "{_KEY}": "{text}"}}')


def last_schema(bodies: Sequence[str]) -> pa.Schema | None:
    """Return the columns from the newest body that has them; None if none has.

    Args:
        bodies: of a bookmark, oldest first.
    """
    for body in reversed(bodies):
        if f'"{_KEY}": "' in body and (text := json.loads(body).get(_KEY)):
            return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
    return None
