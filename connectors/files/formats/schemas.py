"""The option `withSchema`: columns that a script gives, so that no record has to tell them (docs/glue 5.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from gluepot.core.errors import ConfigError


def with_schema(options: Mapping[str, Any]) -> pa.Schema | None:
    """Return the schema of the option, JSON as `StructType.json()` gives it; None without one.

    Raises:
        ConfigError: it is none.
    """
    given = options.get("withSchema")
    if not given:
        return None
    from pyspark.errors import PySparkException  # noqa: PLC0415  few reads give a schema
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructType  # noqa: PLC0415

    try:
        plain = json.loads(given) if isinstance(given, str) else given
        return to_arrow_schema(StructType.fromJson(plain))
    except (PySparkException, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"withSchema is {str(given)[:60]!r}, no schema; give json.dumps(StructType([...]).jsonValue())"
        ) from error
