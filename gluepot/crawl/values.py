"""What a crawl finds: kinds of files, folders, tables, and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

UNKNOWN = "UNKNOWN"
"""The classification of files that no classifier knows."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file is. Equal kinds are one object for each crawl, since there may be a million files.

    Args:
        classification: `csv`, `json`, `parquet`, ..., or what a custom classifier says.
        compression: of the file as a whole, in Glue's words: `none`, `gzip`, ...
        schema: the columns, in the order of the file.
        format: a key of `HIVE_FORMATS` or of `_SERDES` in `tables.py`; empty for files that have none.
        basics: pairs of what all files of a table must have in common, such as the delimiter.
        traits: pairs of what may differ from file to file, such as whether there are quotes.
        serde: pairs for the SerDe.
        header: the cells of the first line, if it might have named the columns and does not.
        below: the schema of the other lines, if the first one named the columns.
    """

    classification: str
    compression: str = "none"
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    format: str = ""
    basics: tuple[tuple[str, str], ...] = ()
    traits: tuple[tuple[str, str], ...] = ()
    serde: tuple[tuple[str, str], ...] = ()
    header: tuple[str, ...] = ()
    below: pa.Schema | None = None

    @property
    def is_known(self) -> bool:
        """Whether a classifier knows it."""
        return self.classification != UNKNOWN

    @property
    def title(self) -> str:
        """Its name in explanations: `csv`, `csv (gzip)`."""
        return self.classification if self.compression == "none" else f"{self.classification} ({self.compression})"


@dataclass(frozen=True, slots=True)
class Classified:
    """What the head of a file told.

    Args:
        kind: of the file; None if it cannot be read.
        why: the reason why it is left out, or is UNKNOWN.
        records: how many records were seen.
        seen_bytes: how many bytes they take.
    """

    kind: FileKind | None
    why: str = ""
    records: int = 0
    seen_bytes: int = 0


@dataclass(slots=True)
class Tally:
    """The files of one kind in one folder.

    Args:
        files: how many.
        size_bytes: of all of them.
        records: seen in their heads.
        seen_bytes: of these records.
        names: of the first files, with their sizes; more are not needed, see `MOST_FILES_AS_TABLES`.
    """

    files: int = 0
    size_bytes: int = 0
    records: int = 0
    seen_bytes: int = 0
    names: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Leaf:
    """A folder that holds files.

    Args:
        folder: relative to the target, without slashes at its ends; empty for the target itself.
        files: how many it has, those that were not read among them.
        size_bytes: of all of them.
        kinds: what was read.
        left_out: names of the first files that no table has, each with the reason.
        left_out_files: how many there are.
    """

    folder: str
    files: int = 0
    size_bytes: int = 0
    kinds: dict[FileKind, Tally] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    left_out_files: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A folder, or a file, of a table that was found.

    Args:
        folder: as `Leaf` has it.
        kind: of its files.
        files: how many.
        size_bytes: of all of them.
        records: an estimate.
        values: of the partition keys.
    """

    folder: str
    kind: FileKind
    files: int
    size_bytes: int
    records: int
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A table in a database that a crawl found.

    Args:
        connection: name of the connection that leads to it; empty for DynamoDB, which needs none.
        location: `database.schema.table`, or `database.table`; of DynamoDB the ARN.
        columns: as the catalog has them.
        is_view: whether it is a view.
        description: the comment that the database has; empty for none.
        name: what the table of the catalog is called after; empty for the location.
        parameters: further ones of the table.
    """

    connection: str
    location: str
    columns: Sequence[Mapping[str, Any]]
    is_view: bool = False
    description: str = ""
    name: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that a crawl found.

    Args:
        url: of the target.
        folder: its root, relative to the target.
        file: the name of its only file; empty for a table that is a folder.
        kind: of all of its files, their schemas merged.
        keys: names of the partition keys, the outermost first.
        parts: its folders; one for a table without keys.
        lake: `iceberg`, `delta` or empty.
        parameters: further ones, of a lake table.
        exclusions: globs of the target.
        name: of the table of the catalog that it is known to be; empty if the catalog has to be asked.
        relation: the table of a database that it is; None for files, which all members above are about.
        gone: values of partitions of the known table whose folders have no files any more.
    """

    url: str
    folder: str
    file: str
    kind: FileKind
    keys: tuple[str, ...] = ()
    parts: Sequence[Part] = ()
    lake: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    exclusions: tuple[str, ...] = ()
    name: str = ""
    relation: FoundRelation | None = None
    gone: Sequence[tuple[str, ...]] = ()

    @property
    def location(self) -> str:
        """URL of its folder, which ends in a slash, or of its file; of a table in a database what it is there."""
        if self.relation is not None:
            return self.relation.location
        place = f"{self.url}/{self.folder}" if self.folder else self.url
        return f"{place}/{self.file}" if self.file else f"{place}/"

    def location_of(self, part: Part) -> str:
        """Return the URL of a part's folder."""
        return f"{self.url}/{part.folder}/" if part.folder else f"{self.url}/"


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a crawl, for `--explain`.

    Args:
        folder: URL.
        compared: what was looked at.
        rule: which rule decided.
        outcome: what became of it.
        similarity: the smallest one, or the share, that decided; None where none was computed.
    """

    folder: str
    compared: str
    rule: str
    outcome: str
    similarity: float | None = None

    def line(self) -> str:
        """Return the sentence for people."""
        share = "" if self.similarity is None else f", similarity {self.similarity:.0%}"
        return f"{self.folder}: {self.compared}{share}; {self.rule}: {self.outcome}."
