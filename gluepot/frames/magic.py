"""Names of Glue's internal columns on streaming frames (docs/glue 3.5)."""

from __future__ import annotations

import re

RECORD_TIMESTAMP = "__src_timestamp"

_MAGIC = re.compile(r"\$(?P<format>[a-z]+)\$data_infer_schema\$[._]temporary\$", re.IGNORECASE)


def magic_column(classification: str) -> str:
    """Return the name of the one string column of a frame whose schema is to be inferred."""
    return f"${classification}$data_infer_schema$_temporary$"


def magic_format(column: str) -> str | None:
    """Return the format a magic column holds (`json`, ...), or None for any other column; both spellings are known."""
    found = _MAGIC.fullmatch(column)
    return found["format"].lower() if found else None
