"""What a script says of a read of files, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gluepot.connectors.files.compression import read_compression
from gluepot.connectors.files.formats import read_format
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.connectors.files.source.globs import compile_globs, read_exclusions
from gluepot.connectors.files.source.grouping import GroupOptions
from gluepot.connectors.files.source.listing import ListingOptions
from gluepot.connectors.files.source.plan import MAX_BAND_MS, PlanOptions
from gluepot.connectors.files.source.sql_predicate import SqlEvaluator, read_predicate
from gluepot.connectors.files.source.storage_classes import read_classes
from gluepot.connectors.files.text_encoding import text_encoding
from gluepot.connectors.options import warn_ignored, warn_unseen
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.option_values import SeenOptions, flag, number
from gluepot.core.storage import canonical_url
from gluepot.frames.time_zone import TimeZone

KNOWN_OPTIONS = (
    "paths",
    "path",
    "recurse",
    "exclusions",
    "compressionType",
    "groupFiles",
    "groupSize",
    "maxBand",
    "maxFilesInBand",
    "lookBackMs",
    "boundedFiles",
    "boundedSize",
    "useS3ListImplementation",
    "excludeStorageClasses",
    "catalogPartitionPredicate",
    "isFailFast",
)
_WITHOUT_EFFECT = {
    "useS3ListImplementation": "listings are always read page by page",
}
# Formats of text whose files may have another encoding than UTF-8. XML files say their own.
_ENCODED = frozenset({"csv", "json"})
# Options of a format that change how fast it is read or written, and not what.
HARMLESS_OF_FORMAT = frozenset({"optimizePerformance", "useGlueParquetWriter", "strictCheckForQuoting", "compression"})

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FileReadSettings:
    """One read of files.

    Args:
        listing: where the files are.
        plan: limits of a run.
        groups: how files become tasks.
        source: how they are read.
        description: the options as given, JSON, enough to make these settings again.
    """

    listing: ListingOptions
    plan: PlanOptions
    groups: GroupOptions
    source: FilesSource
    description: Mapping[str, Any]

    @classmethod
    def from_glue(
        cls,
        options: Mapping[str, Any],
        format_name: str | None,
        format_options: Mapping[str, Any],
        predicate: str = "",
        evaluator: SqlEvaluator | None = None,
    ) -> FileReadSettings:
        """Read Glue's options.

        Args:
            options: `connection_options`.
            format_name: `json`, `csv`, ...
            format_options: Glue's.
            predicate: `push_down_predicate`.
            evaluator: evaluates predicates that only Spark understands.

        Raises:
            ConfigError: an option is missing or not understood.
        """
        warn_ignored(log, options, KNOWN_OPTIONS)
        for name in options.keys() & _WITHOUT_EFFECT.keys():
            log.info("option_without_effect", option=name, reason=_WITHOUT_EFFECT[name])
        asked = [text for text in (predicate, str(options.get("catalogPartitionPredicate") or "")) if text.strip()]
        joined = asked[0] if len(asked) == 1 else " AND ".join(f"({text})" for text in asked)
        paths, of_format = _paths(options), SeenOptions(format_options)
        source = FilesSource(
            format=read_format(format_name, of_format),
            compression=read_compression(options.get("compressionType")),
            fail_fast=flag(options, "isFailFast"),
            attach_filename=of_format.get("attachFilename") or None,
            attach_timestamp=of_format.get("attachTimestamp") or None,
            encoding=text_encoding(of_format.get("encoding")) if (format_name or "").lower() in _ENCODED else None,
        )
        warn_unseen(log, of_format, HARMLESS_OF_FORMAT)
        return cls(
            listing=ListingOptions(
                paths=paths,
                recurse=flag(options, "recurse"),
                exclusions=compile_globs(read_exclusions(options.get("exclusions") or "")),
                predicate=read_predicate(joined, evaluator) if joined else None,
                excluded_classes=read_classes(options.get("excludeStorageClasses")),
            ),
            plan=PlanOptions(
                max_band_ms=_or(number(options, "maxBand", least=0), MAX_BAND_MS),
                max_files_in_band=number(options, "maxFilesInBand"),
                look_back_ms=number(options, "lookBackMs", least=0),
                bounded_files=number(options, "boundedFiles"),
                bounded_size_bytes=number(options, "boundedSize"),
            ),
            groups=GroupOptions.from_glue(dict(options)),
            source=source,
            description={
                "options": {**_plain(options), "paths": list(map(canonical_url, paths))},
                "format": format_name,
                "format_options": _plain(format_options),
                "predicate": predicate,
            },
        )

    def in_zone(self, zone: TimeZone) -> FileReadSettings:
        """Return the settings with the zone of times without one; most formats have no such times."""
        form: Any = self.source.format
        if zone.is_utc or not hasattr(form, "zone"):
            return self
        return replace(self, source=replace(self.source, format=replace(form, zone=zone)))

    @classmethod
    def from_description(cls, plain: Mapping[str, Any]) -> FileReadSettings:
        """Make the settings that were described."""
        return cls.from_glue(plain["options"], plain["format"], plain["format_options"], plain["predicate"])


def _paths(options: Mapping[str, Any]) -> tuple[str, ...]:
    given = options.get("paths") or options.get("path")
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Sequence) and given and all(isinstance(path, str) and path for path in given):
        return tuple(given)
    raise ConfigError(
        f"The paths to read are {given!r}; give connection_options={{'paths': ['s3://bucket/folder']}}, or local ones."
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if isinstance(value, str | int | float | bool | list)}
