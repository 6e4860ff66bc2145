"""Finds likely mistakes that do not fail the job: names that match nothing, formats that do not fit. Pure.

Glue ignores these or writes nulls. Gluepot does the same, and warns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION
from gluepot.connectors.values import ManifestPart, MissingFields
from gluepot.core.errors import did_you_mean

_LEAST_RECORDS = 10
_REMEDIES = {
    "invalid_utf8": "the files are not UTF-8; give their encoding in format_options, such as ISO-8859-1 or UTF-16",
    "malformed_csv": "check separator, quoteChar and multiLine in format_options",
    "malformed_json": "check the format, and jsonPath and multiLine in format_options",
}
_OTHER_REMEDY = "check the format of the records; `gluepot dlq list` counts those that were kept"
_OF_STREAMS = "check the classification and the schema of the stream"
_SENTENCES = {
    "field_not_found": "No record has the field {of!r} of a mapping",
    "all_rows_in_the_default_partition": "All {records:,} rows are in the default partition of {of!r}",
    "most_records_rejected": "{records:,} records, more than half, were rejected, most of them because of {of}",
}


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something that a person should look at.

    Args:
        event: the name of the log event.
        of: what it is about: a field, a partition key, a reason.
        hint: the likely remedy.
        records: how many records it concerns; 0 if it is not about records.
    """

    event: str
    of: str
    hint: str
    records: int = 0

    @property
    def sentence(self) -> str:
        """What it is, for the message of an error."""
        return f"{_SENTENCES[self.event].format(of=self.of, records=self.records)}: {self.hint}"


def suspicions(parts: Sequence[ManifestPart], names: Sequence[str], partition_keys: Sequence[str]) -> list[Suspicion]:
    """Return what looks like a mistake in one write.

    Args:
        parts: what the tasks report.
        names: the names of the columns that were written.
        partition_keys: of the target.
    """
    return [*_missing_fields(parts), *_default_partitions(parts, names, partition_keys), *_mostly_rejected(parts)]


def _missing_fields(parts: Sequence[ManifestPart]) -> Iterator[Suspicion]:
    seen = [part.missing for part in parts if part.missing is not None]
    if not seen:
        return
    missing = reduce(MissingFields.and_in, seen)
    for name in sorted(missing.wanted):
        hint = (
            did_you_mean(name, missing.names).strip()
            or f"fields in the records: {', '.join(sorted(missing.names))[:200]}"
        )
        yield Suspicion("field_not_found", name, hint)


def _default_partitions(
    parts: Sequence[ManifestPart], names: Sequence[str], partition_keys: Sequence[str]
) -> Iterator[Suspicion]:
    files = [file for part in parts for file in part.files if not file.rejects]
    rows = sum(file.rows for file in files)
    for key in partition_keys if rows else ():
        if all(f"{key}={DEFAULT_PARTITION}/" in file.final for file in files):
            if key in names:
                hint = "every row has null in this column"
            else:
                hint = f"no row has this column.{did_you_mean(key, names)}"
            yield Suspicion("all_rows_in_the_default_partition", key, hint, rows)


def _mostly_rejected(parts: Sequence[ManifestPart]) -> Iterator[Suspicion]:
    rejected = sum((Counter(part.rejected) for part in parts), Counter[str]())
    rejected["malformed"] += sum(part.left_out_in_read for part in parts)  # with --on-malformed=drop
    if rejected.total() >= _LEAST_RECORDS and rejected.total() * 2 > sum(part.rows_in for part in parts):
        reason, _ = rejected.most_common(1)[0]
        is_of_stream = any(part.ranges for part in parts)
        hint = _OF_STREAMS if is_of_stream else _REMEDIES.get(reason, _OTHER_REMEDY)
        yield Suspicion("most_records_rejected", reason, hint, rejected.total())
