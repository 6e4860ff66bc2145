"""The sink for `format="json"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluepot.connectors.files.formats.json.write import JsonOutputFormat
from gluepot.connectors.files.formats.text_file import Compression
from gluepot.connectors.files.sink import FileSink, new_file_sink
from gluepot.connectors.values import CommitKey
from gluepot.frames.time_zone import UTC, TimeZone


def json_sink(
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
        ConfigError: `compression` is not known.
    """
    lines = JsonOutputFormat(Compression.from_glue(format_options.get("compression")), zone)
    return new_file_sink(path, key, lines, partition_keys=partition_keys, ctx=ctx, rejects_path=rejects_path, zone=zone)
