"""Decides which folders are tables and which are partitions of one (docs/glue 11.6, docs/decisions/0043). Pure.

AWS describes what comes out and not how. The procedure here fits what it describes: from the deepest folders upwards,
the folders in a folder become partitions of one table if they are compatible, equally deep and mostly similar.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gluepot.core.plural import counted
from gluepot.crawl.names import folder_and_above, last_part, partition_keys, partition_value
from gluepot.crawl.schemas import THRESHOLD, merged, similarity
from gluepot.crawl.values import FileKind, FoundTable, Leaf, Part, Step, Tally

MOST_FILES_AS_TABLES = 100
"""In a folder of unlike files each file is a table. Beyond this number the folder is left out and a person is asked."""

_BYTES_IF_UNKNOWN = 100


@dataclass(frozen=True, slots=True)
class GroupRules:
    """What a crawler says of grouping.

    Args:
        combine: similarity does not matter.
        table_level: the level at which folders are tables; None lets the files tell.
        root_level: the level of the target; a bucket has the level 1.
        never: folders that no table may hold, such as those above tables that exist.
        with_folders: folders that have further ones inside, beside those that are grouped.
    """

    combine: bool = False
    table_level: int | None = None
    root_level: int = 1
    never: frozenset[str] = frozenset()
    with_folders: frozenset[str] = frozenset()


@dataclass(slots=True)
class Grouped:
    """What a grouping decided.

    Args:
        tables: in the order of their folders.
        steps: why.
    """

    tables: list[FoundTable] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class _Candidate:
    """A folder that can be a table, or a partition of one above it.

    Args:
        folder: its path.
        depth: how many levels of folders lie between it and its files.
        kind: of all files, merged.
        parts: its folders.
    """

    folder: str
    depth: int
    kind: FileKind
    parts: list[Part]


def group(url: str, leaves: Iterable[Leaf], lakes: Collection[str], rules: GroupRules) -> Grouped:
    """Return the tables of a target.

    Args:
        url: of the target, without a slash at its end.
        leaves: its folders with files, without those of lake tables.
        lakes: folders of lake tables, which are tables by themselves.
        rules: what the crawler says.
    """
    leaves = list(leaves)
    work = _Work(url, rules, {above for one in (*lakes, *rules.never) for above in (one, *_above(one))})
    with_folders = rules.with_folders | {above for leaf in leaves for above in _above(leaf.folder)}
    for leaf in leaves:
        work.add_leaf(leaf, beside_folders=leaf.folder in with_folders)
    for folder in _bottom_up(work.candidates):
        work.merge(folder)
    out = work.out
    out.tables += [_table(url, one) for one in work.candidates.values()]
    out.tables.sort(key=lambda table: (table.folder, table.file))
    return out


def compatible(left: FileKind, right: FileKind) -> bool:
    """Tell whether files can be in one table: format, compression and attributes such as the delimiter are equal."""
    return (left.classification, left.compression, left.format, left.basics) == (
        right.classification,
        right.compression,
        right.format,
        right.basics,
    )


def merged_kind(kinds: Sequence[FileKind]) -> FileKind:
    """Return the kind of files that are in one table: the union of their columns, in the order of the first one."""
    first = kinds[0]
    traits = {name: value for kind in kinds for name, value in kind.traits if value != "false"}
    serde = dict(first.serde)
    schema = merged(kind.schema for kind in kinds)
    if "paths" in serde:
        serde["paths"] = ",".join(sorted(schema.names))
    return replace(
        first,
        schema=schema,
        traits=tuple(sorted({**dict(first.traits), **traits}.items())),
        serde=tuple(serde.items()),
        header=first.header if len(kinds) == 1 else (),
        below=first.below if len(kinds) == 1 else None,
    )


def with_header_of(kind: FileKind, other: FileKind) -> FileKind:
    """Return how a CSV file reads if its first line is the header that another file has; itself if it is not.

    A file whose columns are all texts, or that has no record, does not tell its header from its records by itself.
    """
    if not kind.header or kind.below is None or dict(other.basics).get("skip.header.line.count") != "1":
        return kind
    if [cell.strip().lower() for cell in kind.header] != [name.lower() for name in other.schema.names]:
        return kind
    return replace(kind, schema=kind.below, basics=other.basics, header=(), below=None)


class _Work:
    """A grouping under way.

    Args:
        url: of the target.
        rules: what the crawler says.
        blocked: folders that can be no table, since something below them is one by itself.
    """

    def __init__(self, url: str, rules: GroupRules, blocked: set[str]) -> None:
        self.out = Grouped()
        self.candidates: dict[str, _Candidate] = {}
        self._url = url
        self._rules = rules
        self._blocked = blocked
        self._children: defaultdict[str, list[str]] = defaultdict(list)

    def add_leaf(self, leaf: Leaf, *, beside_folders: bool) -> None:
        """Make a folder a candidate if its files are alike; otherwise make a table of each file."""
        known = {kind: tally for kind, tally in leaf.kinds.items() if kind.is_known}
        kinds = known or ({} if beside_folders else leaf.kinds)
        clusters = _clusters(kinds, ignore_similarity=self._ignores_similarity)
        if not clusters:
            return
        is_large = leaf.files > MOST_FILES_AS_TABLES
        if len(clusters) == 1 and (is_large or not beside_folders):
            kind, tallies = clusters[0]
            self._add(_Candidate(leaf.folder, 0, kind, [_part(leaf, kind, tallies)]))
            if beside_folders:
                self._block(leaf.folder)
            return
        # Files beside folders are at another depth than those inside, which may still be one table.
        self._blocked.update(_above(leaf.folder))
        compared = f"{counted(leaf.files, 'file')} of {counted(len(clusters), 'kind')} ({_titles(clusters)})"
        if is_large:
            rule = f"files that do not fit together are tables of their own, up to {MOST_FILES_AS_TABLES} in a folder"
            self._note(leaf.folder, compared, rule, "left out; separate the files, or exclude some")
            return
        names = sum(len(tally.names) for tally in kinds.values())
        rule = (
            "files beside folders are tables of their own"
            if beside_folders
            else "files in a folder that are not compatible or not similar are tables of their own"
        )
        self._note(leaf.folder, compared, rule, f"{counted(names, 'table')}, one for each file")
        self.out.tables += [
            _file_table(self._url, leaf.folder, name, size_bytes, kind, tally)
            for kind, tally in kinds.items()
            for name, size_bytes in tally.names
        ]

    def merge(self, folder: str) -> None:
        """Make the folders in a folder partitions of one table, if they can be."""
        inside = self._known(folder)
        if not inside:
            return
        compared = counted(len(inside), "folder")
        if why := self._forbidden(folder):
            self._refuse(folder, inside, compared, why)
            return
        inside = _with_headers(inside)
        if len({one.depth for one in inside}) > 1:
            self._refuse(folder, inside, compared, "the files of a table lie at one depth")
            return
        if not all(compatible(one.kind, inside[0].kind) for one in inside):
            titles = ", ".join(sorted({one.kind.title for one in inside}))
            rule = "the files of a table have one format, compression and delimiter"
            self._refuse(folder, inside, f"{compared} of {titles}", rule)
            return
        share = 1.0 if self._ignores_similarity else _share(inside)
        least = min(similarity(one.kind.schema, inside[0].kind.schema) for one in inside)
        if share < THRESHOLD:
            rule = f"{share:.0%} of the folders are similar to each other, and {THRESHOLD:.0%} must be"
            self._refuse(folder, inside, compared, rule, least)
            return
        self._note(folder, compared, self._why(share), "a level of partitions", least)
        for one in inside:
            del self.candidates[one.folder]
        kind = merged_kind([one.kind for one in inside])
        parts = [part for one in inside for part in one.parts]
        self._add(_Candidate(folder, inside[0].depth + 1, kind, parts))

    @property
    def _ignores_similarity(self) -> bool:
        return self._rules.combine or self._rules.table_level is not None

    def _known(self, folder: str) -> list[_Candidate]:
        """Return the candidates in a folder; those that no classifier knows are left out if there are others."""
        inside = [self.candidates[name] for name in self._children[folder] if name in self.candidates]
        known = [one for one in inside if one.kind.is_known]
        if known and len(known) < len(inside):
            for one in inside:
                if not one.kind.is_known:
                    del self.candidates[one.folder]
                    self._note(one.folder, "its files", "no classifier knows them", "left out")
            return known
        return inside

    def _forbidden(self, folder: str) -> str:
        """Return why a folder can be no table with partitions; empty if it can."""
        level, wanted = self._rules.root_level + (folder.count("/") + 1 if folder else 0), self._rules.table_level
        if wanted is not None and level < wanted:
            return f"TableLevelConfiguration is {wanted}, and this is level {level}"
        return "something below it is a table of its own" if folder in self._blocked else ""

    def _why(self, share: float) -> str:
        if self._rules.combine:
            return "CombineCompatibleSchemas"
        if self._rules.table_level is not None:
            return f"TableLevelConfiguration {self._rules.table_level}"
        return f"compatible, and {share:.0%} of the folders are similar"

    def _add(self, one: _Candidate) -> None:
        self.candidates[one.folder] = one
        if one.folder:
            self._children[_parent(one.folder)].append(one.folder)

    def _block(self, folder: str) -> None:
        self._blocked.update((folder, *_above(folder)))

    def _refuse(
        self, folder: str, inside: Sequence[_Candidate], compared: str, rule: str, least: float | None = None
    ) -> None:
        self._block(folder)
        self._note(folder, compared, rule, _apart(inside), least)

    def _note(self, folder: str, compared: str, rule: str, outcome: str, least: float | None = None) -> None:
        place = f"{self._url}/{folder}" if folder else self._url
        self.out.steps.append(Step(place, compared, rule, outcome, least))


def _share(inside: Sequence[_Candidate]) -> float:
    """Return the share of the folders that belong to the largest group of similar ones."""
    groups: list[tuple[FileKind, int]] = []
    for one in inside:
        for at, (kind, count) in enumerate(groups):
            if one.kind is kind or similarity(one.kind.schema, kind.schema) >= THRESHOLD:
                groups[at] = (kind, count + 1)
                break
        else:
            groups.append((one.kind, 1))
    return max(count for _, count in groups) / len(inside)


def _clusters(kinds: Mapping[FileKind, Tally], *, ignore_similarity: bool) -> list[tuple[FileKind, list[Tally]]]:
    """Return the files of a folder in groups that fit together, the first seen first."""
    with_header = next((kind for kind in kinds if dict(kind.basics).get("skip.header.line.count")), None)
    groups: list[tuple[FileKind, list[Tally]]] = []
    for kind, tally in kinds.items():
        one = with_header_of(kind, with_header) if with_header is not None else kind
        for at, (held, tallies) in enumerate(groups):
            alike = ignore_similarity or similarity(one.schema, held.schema) >= THRESHOLD
            if compatible(one, held) and alike:
                groups[at] = (merged_kind([held, one]), [*tallies, tally])
                break
        else:
            groups.append((one, [tally]))
    return groups


def _with_headers(inside: list[_Candidate]) -> list[_Candidate]:
    with_header = next((one.kind for one in inside if dict(one.kind.basics).get("skip.header.line.count")), None)
    if with_header is None:
        return inside
    return [_with_kind(one, with_header_of(one.kind, with_header)) for one in inside]


def _with_kind(one: _Candidate, kind: FileKind) -> _Candidate:
    if kind is one.kind:
        return one
    return _Candidate(one.folder, one.depth, kind, [replace(part, kind=kind) for part in one.parts])


def _part(leaf: Leaf, kind: FileKind, tallies: Sequence[Tally]) -> Part:
    records, seen_bytes = (sum(getattr(one, name) for one in tallies) for name in ("records", "seen_bytes"))
    return Part(leaf.folder, kind, leaf.files, leaf.size_bytes, _estimate(records, seen_bytes, leaf.size_bytes))


def _file_table(url: str, folder: str, name: str, size_bytes: int, kind: FileKind, tally: Tally) -> FoundTable:
    part = Part(folder, kind, 1, size_bytes, _estimate(tally.records, tally.seen_bytes, size_bytes))
    return FoundTable(url, folder, name, merged_kind([kind]), (), (part,))


def _estimate(records: int, seen_bytes: int, size_bytes: int) -> int:
    """Return how many records some bytes hold, by those that were seen."""
    return max(1, round(records * size_bytes / seen_bytes)) if records and seen_bytes else 0


def _table(url: str, one: _Candidate) -> FoundTable:
    begin = len(one.folder) + 1 if one.folder else 0
    paths = [part.folder[begin:].split("/") if one.depth else [] for part in one.parts]
    keys = partition_keys([sorted({path[level] for path in paths}) for level in range(one.depth)])
    parts = [
        replace(part, values=tuple(partition_value(key, name) for key, name in zip(keys, path, strict=True)))
        for part, path in zip(one.parts, paths, strict=True)
    ]
    return FoundTable(url, one.folder, "", one.kind, tuple(keys), parts)


def _bottom_up(folders: Iterable[str]) -> list[str]:
    """Return all folders that hold other ones, the deepest first."""
    by_depth: defaultdict[int, set[str]] = defaultdict(set)
    for folder in folders:
        for above in _above(folder):
            by_depth[above.count("/") + 1 if above else 0].add(above)
    return [folder for depth in sorted(by_depth, reverse=True) for folder in sorted(by_depth[depth])]


def _above(folder: str) -> list[str]:
    """Return the folders that a folder lies in, the innermost first; the last one is the target."""
    return folder_and_above(folder)[1:]


def _parent(folder: str) -> str:
    return folder.rpartition("/")[0]


def _apart(inside: Sequence[_Candidate]) -> str:
    names = ", ".join(last_part(one.folder) for one in inside[:3])
    more = f" and {len(inside) - 3} more" if len(inside) > 3 else ""
    return f"each is a table of its own: {names}{more}"


def _titles(clusters: Sequence[tuple[FileKind, list[Tally]]]) -> str:
    return ", ".join(dict.fromkeys(kind.title for kind, _ in clusters))
