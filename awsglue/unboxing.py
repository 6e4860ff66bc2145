"""The format and options of Unbox, as scripts give them (docs/glue 5.2, 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from awsglue.unsupported import NotSupportedHere
from gluepot.core.option_values import is_true
from gluepot.frames.transforms import BoxedCsv, BoxedJson, BoxFormat

_NO_QUOTES = "-1"


def box_format(name: str, options: Mapping[str, Any]) -> BoxFormat:
    """Return the parser of the texts.

    Raises:
        NotSupported: the format, or the option `withSchema`, is not supported.
    """
    if options.get("withSchema"):
        raise NotSupportedHere("unbox(withSchema=...)", "Leave it out and cast the fields with apply_mapping.")
    match name.lower():
        case "json":
            return BoxedJson()
        case "csv":
            quote = str(options.get("quoteChar", '"'))
            return BoxedCsv(
                separator=str(options.get("separator", ",")),
                quote=None if quote == _NO_QUOTES else quote,
                escaper=options.get("escaper"),
                with_header=is_true(options.get("withHeader")),
                skip_first=is_true(options.get("skipFirst")),
            )
        case _:
            raise NotSupportedHere(f"unbox(format={name!r})", "Use json or csv.")
