"""The sink for `format="csv"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gluepot.connectors.files.formats.csv.write import CsvOutputFormat
from gluepot.connectors.files.formats.text_file import Compression
from gluepot.connectors.files.sink import FileSink, new_file_sink
from gluepot.connectors.values import CommitKey
from gluepot.frames.time_zone import UTC, TimeZone


def csv_sink(
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
        ConfigError: `compression` or an option's value is not allowed; the message says what is.
    """
    compression = Compression.from_glue(format_options.get("compression"))
    lines = replace(CsvOutputFormat.from_glue(format_options, compression), zone=zone)
    return new_file_sink(path, key, lines, partition_keys=partition_keys, ctx=ctx, rejects_path=rejects_path, zone=zone)
