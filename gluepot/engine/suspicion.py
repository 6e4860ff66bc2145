"""Finds likely mistakes that do not fail the job: names that match nothing, formats that do not fit. Pure.

Glue ignores these or writes nulls. Gluepot does the same, and warns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION
from gluepot.connectors.values import ManifestPart, MissingFields
from gluepot.core.errors import PermanentError, did_you_mean

_LEAST_RECORDS = 10
_REMEDIES = {
    "invalid_utf8": "the files are not UTF-8; give their encoding in format_options, such as ISO-8859-1 or UTF-16",
    "malformed_csv": "check separator, quoteChar and multiLine in format_options",
    "malformed_json": "check the format, and jsonPath and multiLine in format_options",
}
_OTHER_REMEDY = "check the format of the records; `gluepot dlq list` counts the rejected records by reason"
_OF_STREAMS = "check the classification and the schema of the stream"
_SEPARATORS = ";\t|,"
_SENTENCES = {
    "field_not_found": "No record has the field {of!r}, which the script uses",
    "field_without_values": "The field {of!r}, which the script uses, is null in all {records:,} records",
    "all_rows_in_the_default_partition": "All {records:,} rows are in the default partition of {of!r}",
    "header_not_understood": "The file header does not match the format; it gives the column {of!r}",
    "write_failed": "A write to {of} failed, and the script caught the error",
    "no_records_found": "The files have text, but {of} matches no record",
    "most_records_rejected": "More than half of the records ({records:,}) were rejected, most of them because of {of}",
}


class SuspiciousData(PermanentError):
    """Something looks like a mistake, and the job is strict."""


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
        return f"{_SENTENCES[self.event].format(of=self.of, records=self.records)} ({self.hint})"


def suspicions(
    parts: Sequence[ManifestPart],
    names: Sequence[str],
    partition_keys: Sequence[str],
    source_names: Callable[[], Sequence[str]] = tuple,
) -> list[Suspicion]:
    """Return what looks like a mistake in one write.

    Args:
        parts: what the tasks report.
        names: the names of the columns that were written.
        partition_keys: of the target.
        source_names: returns the names of columns that the tasks may not have read; called only if it matters.
    """
    return [
        *missing_fields([part.missing for part in parts], source_names),
        *_garbled_names(names),
        *_default_partitions(parts, names, partition_keys),
        *_mostly_rejected(parts),
    ]


def missing_fields(
    of_tasks: Sequence[MissingFields | None], source_names: Callable[[], Sequence[str]] = tuple
) -> Iterator[Suspicion]:
    """Yield a suspicion for each field that steps ask for, and that has no value in any record.

    A field that records have, with nulls only, is ordinary; it is suspicious if a column of nearly the same name has
    values, which the step does not ask for. So is a field to be removed that no record has.

    Args:
        of_tasks: what the tasks have seen; None for a task without records.
        source_names: as in `suspicions`.
    """
    seen = [one for one in of_tasks if one is not None]
    if not seen:
        return
    missing = reduce(MissingFields.and_in, seen)
    for name in sorted(missing.wanted):
        others = [one for one in missing.names if _letters(one) != _letters(name)]
        if name in missing.optional:
            if near := did_you_mean(name, others).strip():
                yield Suspicion("field_not_found", name, near)
            continue
        if name in missing.null:
            near = did_you_mean(name, others).strip()
            if near and missing.rows >= _LEAST_RECORDS:
                yield Suspicion("field_without_values", name, near, missing.rows)
            continue
        known = {*missing.names, *source_names()} - {name}
        near = did_you_mean(name, known).strip()
        yield Suspicion("field_not_found", name, near or f"other fields: {', '.join(sorted(known))[:200]}")


def _garbled_names(names: Sequence[str]) -> Iterator[Suspicion]:
    """Yield a suspicion if the names of the columns are those of a file that was read with wrong options."""
    distinct = list(dict.fromkeys(names))
    if any(name.startswith('{"') for name in distinct):
        yield Suspicion("header_not_understood", distinct[0], "the files look like JSON; check the format")
    elif len(distinct) == 1 and (found := next((one for one in _SEPARATORS if one in distinct[0]), None)):
        hint = f"the header contains {found!r}; check separator in format_options"
        yield Suspicion("header_not_understood", distinct[0], hint)


def _letters(name: str) -> str:
    """Return a name without digits: `line_1` and `line_2` are two fields, not one with a mistake."""
    return "".join(char for char in name if not char.isdigit())


def _default_partitions(
    parts: Sequence[ManifestPart], names: Sequence[str], partition_keys: Sequence[str]
) -> Iterator[Suspicion]:
    files = [file for part in parts for file in part.files if not file.rejects]
    rows = sum(file.rows for file in files)
    for key in partition_keys if rows else ():
        if all(f"{key}={DEFAULT_PARTITION}/" in file.final for file in files):
            if key in names:
                hint = "this column is null in every row; check the partition keys"
            else:
                meant = did_you_mean(key, names)
                hint = f"no row has this column{f'.{meant}' if meant else '; check the partition keys'}"
            yield Suspicion("all_rows_in_the_default_partition", key, hint, rows)


def _mostly_rejected(parts: Sequence[ManifestPart]) -> Iterator[Suspicion]:
    rejected = sum((Counter(part.rejected) for part in parts), Counter[str]())
    rejected["malformed"] += sum(part.left_out_in_read for part in parts)  # with --on-malformed=drop
    if rejected.total() >= _LEAST_RECORDS and rejected.total() * 2 > sum(part.rows_in for part in parts):
        reason, _ = rejected.most_common(1)[0]
        is_of_stream = any(part.ranges for part in parts)
        hint = _OF_STREAMS if is_of_stream else _REMEDIES.get(reason, _OTHER_REMEDY)
        yield Suspicion("most_records_rejected", reason, hint, rejected.total())
