"""The sink for `format="glueparquet"`, and for `format="parquet"` with `useGlueParquetWriter`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import FileSink, new_file_sink
from gluepot.connectors.files.sink.drift import DriftPolicy
from gluepot.connectors.values import CommitKey
from gluepot.frames.time_zone import UTC, TimeZone


def glueparquet_sink(
    path: str,
    key: CommitKey,
    format_options: Mapping[str, object],
    *,
    partition_keys: Sequence[str] = (),
    ctx: str = "",
    rejects_path: str | None = None,
    zone: TimeZone = UTC,
) -> FileSink:
    """Return the sink for a path and options as a script gives them.

    Raises:
        ConfigError: an option's value is not allowed; the message says what is.
    """
    parquet = ParquetOutputFormat.from_glue(format_options)
    return new_file_sink(
        path,
        key,
        parquet,
        partition_keys=partition_keys,
        ctx=ctx,
        rejects_path=rejects_path,
        zone=zone,
        drift=DriftPolicy.from_options(format_options),
    )
