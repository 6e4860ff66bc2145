"""The sinks for text, from paths and options as scripts give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gluepot.connectors.filesink import FileSink, new_file_sink
from gluepot.connectors.textfiles.compression import Compression
from gluepot.connectors.textfiles.csv_format import CsvFormat
from gluepot.connectors.textfiles.json_format import JsonFormat
from gluepot.connectors.values import CommitKey


def json_sink(
    path: str,
    key: CommitKey,
    format_options: Mapping[str, object],
    *,
    partition_keys: Sequence[str] = (),
    ctx: str = "",
    rejects_path: str | None = None,
) -> FileSink:
    """Return the sink for `format="json"`.

    Raises:
        ConfigError: `compression` is not known.
    """
    lines = JsonFormat(Compression.from_glue(format_options.get("compression")))
    return new_file_sink(path, key, lines, partition_keys=partition_keys, ctx=ctx, rejects_path=rejects_path)


def csv_sink(
    path: str,
    key: CommitKey,
    format_options: Mapping[str, object],
    *,
    partition_keys: Sequence[str] = (),
    ctx: str = "",
    rejects_path: str | None = None,
) -> FileSink:
    """Return the sink for `format="csv"`.

    Raises:
        ConfigError: `compression` or an option's value is not allowed; the message says what is.
    """
    lines = CsvFormat.from_glue(format_options, Compression.from_glue(format_options.get("compression")))
    return new_file_sink(path, key, lines, partition_keys=partition_keys, ctx=ctx, rejects_path=rejects_path)
