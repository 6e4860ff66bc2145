"""Reading a folder the way a job does, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gluepot.connectors.files.source.grouping import GroupOptions, grouped
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.rows import rows


def chunks(root: Path, format_name: str, options: dict[str, Any] | None = None, **format_options: Any) -> list[Chunk]:
    return list(each_chunk(root, format_name, options, **format_options))


def each_chunk(
    root: Path, format_name: str, options: dict[str, Any] | None = None, **format_options: Any
) -> Iterator[Chunk]:
    """Yield the chunks one after the other, as a task that writes them does."""
    settings = FileReadSettings.from_glue({"paths": [str(root)], **(options or {})}, format_name, format_options)
    files = list(list_files(settings.listing, ListingStats()))
    for group in grouped(files, GroupOptions(), 1):
        yield from settings.source.read(group)


def records(root: Path, format_name: str, options: dict[str, Any] | None = None, **format_options: Any) -> list[dict]:
    found = chunks(root, format_name, options, **format_options)
    return [{k: v for k, v in row.items() if v is not None} for chunk in found for row in rows(chunk)]


def errors(root: Path, format_name: str, **format_options: Any) -> list[ErrorRecord]:
    return [error for chunk in chunks(root, format_name, **format_options) for error in chunk.errors]
