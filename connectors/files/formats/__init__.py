"""Which reader reads which format. Each is imported when its format is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from gluepot.connectors.files.contracts import InputFormat
from gluepot.core.errors import ConfigError, did_you_mean

_FORMATS = {
    "json": ("json.read", "JsonInputFormat"),
    "csv": ("csv.read", "CsvInputFormat"),
    "parquet": ("parquet.read", "ParquetInputFormat"),
    "glueparquet": ("parquet.read", "ParquetInputFormat"),
    "orc": ("orc", "OrcInputFormat"),
    "avro": ("avro", "AvroInputFormat"),
    "ion": ("ion", "IonInputFormat"),
    "xml": ("xml", "XmlInputFormat"),
    "groklog": ("grok.read", "GrokInputFormat"),
}


def read_format(name: str | None, options: Mapping[str, Any]) -> InputFormat:
    """Return a format with Glue's `format_options`.

    Raises:
        ConfigError: the format is not known, or an option has a value that is not understood.
    """
    wanted = (name or "").lower()
    if wanted not in _FORMATS:
        raise ConfigError(
            f"The format is {name!r}; use one of {', '.join(sorted(_FORMATS))}.{did_you_mean(wanted, _FORMATS)}"
        )
    module, kind = _FORMATS[wanted]
    made = getattr(import_module(f"{__name__}.{module}"), kind)
    return made.from_glue(options) if hasattr(made, "from_glue") else made()  # type: ignore[no-any-return]
