"""One crawl: lists, reads heads, groups, and writes all that it decided in one transaction."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice

import pyarrow as pa

from gluepot.catalog.connections import jdbc_connection, load
from gluepot.catalog.databases import is_of_database
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Database, Entry, Partition, Table
from gluepot.core.errors import ConfigError, EtlError
from gluepot.core.failpoints import reach
from gluepot.core.plural import counted
from gluepot.core.storage import Entry as FileEntry
from gluepot.core.storage import LocalRoot, SourceStorage, canonical_url, open_source, open_storage, parse_url
from gluepot.crawl.classify.builtin import classify
from gluepot.crawl.classify.head import read_head
from gluepot.crawl.grouping import MOST_FILES_AS_TABLES, GroupRules, group
from gluepot.crawl.known import Fitted, fit, known_folders
from gluepot.crawl.lakes import lake_table
from gluepot.crawl.listing import Listing, files_of, only_file
from gluepot.crawl.names import path_of, place_of
from gluepot.crawl.plan import Action, Catalogued, Known, Seen, plan
from gluepot.crawl.relations import Inventory, found_relations, inventory, is_meant
from gluepot.crawl.settings import NEW_FOLDERS, CrawlSettings, JdbcTarget, Target
from gluepot.crawl.tables import INDEX, UPDATED_BY
from gluepot.crawl.values import Classified, FileKind, FoundRelation, FoundTable, Leaf, Step, Tally

# Heads are waited for more than they are computed.
_READERS = 8
_AT_ONCE = 256
_PARTITIONS_AT_ONCE = 2000
_MOST_LEFT_OUT = 20


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or a folder that no table has.

    Args:
        place: URL.
        why: the reason.
    """

    place: str
    why: str


@dataclass(slots=True)
class CrawlReport:
    """What a crawl found and did.

    Args:
        tables: that were found, in order, with what happened to each; those that went are behind them.
        found: the tables as they were found, by name.
        steps: why they are so.
        left_out: files and folders that no table has; the first ones of each folder.
        left_out_files: how many files there are of that kind.
        files: that were looked at.
        failed_targets: URLs of targets that could not be crawled, each with the reason.
    """

    tables: list[Action] = field(default_factory=list)
    found: dict[str, FoundTable] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    left_out_files: int = 0
    files: int = 0
    failed_targets: list[LeftOut] = field(default_factory=list)

    def summary(self, database: str) -> dict[str, dict[str, dict[str, object]]]:
        """Return what `Summary` of a crawl in the API tells, before it becomes JSON text."""
        of_tables: defaultdict[str, list[str]] = defaultdict(list)
        counts: defaultdict[str, int] = defaultdict(int)
        for one in self.tables:
            word = {"created": "ADD", "updated": "UPDATE", "deprecated": "UPDATE", "deleted": "DELETE"}.get(one.outcome)
            if word:
                of_tables[word].append(f"{database}.{one.table}")
            for name, some in (("ADD", one.added), ("UPDATE", one.changed), ("DELETE", one.dropped)):
                counts[name] += len(some)
        words = ("ADD", "UPDATE", "DELETE")
        return {
            "TABLE": {
                one: {"Details": of_tables[one], "Count": len(of_tables[one])} for one in words if of_tables[one]
            },
            "PARTITION": {one: {"Details": [], "Count": counts[one]} for one in words if counts[one]},
        }


@dataclass(frozen=True, slots=True)
class _Write:
    """How a crawl writes.

    Args:
        run_id: of the crawl.
        dry_run: it does not.
        tells: the changes are noted.
        makes_database: the database is made first.
    """

    run_id: str
    dry_run: bool = False
    tells: bool = False
    makes_database: bool = False


@dataclass(slots=True)
class _Target:
    """A target that was listed."""

    url: str
    storage: SourceStorage
    listing: Listing
    leaves: dict[str, Leaf]


def crawl(
    settings: CrawlSettings,
    catalog: Catalog,
    chance: random.Random,
    run_id: str = "",
    *,
    make_database: bool = False,
    dry_run: bool = False,
    tells: bool = False,
    ask: Inventory = lambda target: inventory(target, jdbc_connection(load().get(target.connection))),
) -> CrawlReport:
    """Crawl, and write to the catalog what was found, all of it or nothing.

    Args:
        settings: of the crawler.
        catalog: that gets the tables.
        chance: chooses samples.
        run_id: of the crawl; written into tables.
        make_database: make the database if there is none of its name.
        dry_run: write nothing.
        tells: note the changes of the catalog, which the service tells as events.
        ask: lists the tables of a database.

    Raises:
        ConfigError: there is no such database, there are more tables than allowed, or no target can be crawled.
    """
    report = CrawlReport()
    write = _Write(run_id, dry_run=dry_run, tells=tells)
    databases = _databases(settings, catalog, make_database=make_database)
    if settings.catalog_targets:
        return _crawl_tables(settings, catalog, chance, report, write)
    existing = catalog.tables(settings.database) if databases else []
    seen, found = _Places(catalog.now_ms()), list[FoundTable]()
    reach("crawl.begun")
    for target in settings.targets:
        try:
            found += _of_target(settings, target, existing, catalog, chance, report, seen)
        except EtlError as error:
            report.failed_targets.append(LeftOut(target.url, str(error)))
    own = [one for one in existing if one.parameters.get(UPDATED_BY) == settings.name]
    for database in settings.jdbc_targets:
        try:
            found += _of_database(database, own, ask, report, seen)
        except EtlError as error:
            report.failed_targets.append(LeftOut(database.title, str(error)))
    if len(report.failed_targets) == len(settings.targets) + len(settings.jdbc_targets):
        raise ConfigError(f"No target could be crawled. {report.failed_targets[0].why}")
    seen.add_files(one for one in own if not is_of_database(one))
    reach("crawl.classified")
    return _written(settings, catalog, found, seen.seen(), report, replace(write, makes_database=not databases))


def _databases(settings: CrawlSettings, catalog: Catalog, *, make_database: bool) -> bool:
    """Return whether the database is there.

    Raises:
        ConfigError: it is not, and is not to be made.
    """
    names = {one.name for one in catalog.databases()}
    makes = bool(settings.targets or settings.jdbc_targets)
    wanted = {settings.database} if makes else {one.database.lower() for one in settings.catalog_targets}
    if wanted <= names:
        return True
    if not make_database:
        for one in sorted(wanted - names):
            catalog.database(one)
    return False


class _Places:
    """Gathers which places were seen, over all targets.

    Args:
        began_ms: see `Seen`.
    """

    def __init__(self, began_ms: int) -> None:
        self._began_ms = began_ms
        self._folders: set[str] = set()
        self._uncertain: list[str] = []
        self._targets: list[str] = []
        self._unclear: list[str] = []

    def add(self, one: _Target) -> None:
        """Add a target that was listed."""
        self._targets.append(one.url)
        self._folders.update(_join(one.url, folder) for folder in one.listing.folders)
        self._uncertain += [_join(one.url, folder) for folder, _ in one.listing.unreadable]
        self._unclear += [_join(one.url, folder) for folder, leaf in one.leaves.items() if leaf.left_out_files]

    def add_relations(self, found: Iterable[FoundRelation], covered: Iterable[str]) -> None:
        """Add tables of a database that were found, and the places of all that would have been, were they there."""
        self._folders.update(place_of(one.connection, one.location) for one in found)
        self._targets += covered

    def add_files(self, tables: Iterable[Table]) -> None:
        """Look for the files of tables that are files, because listings are remembered by folders."""
        for table in tables:
            location = table.storage.location
            if location.endswith("/") or not location:
                continue
            try:
                if only_file(location) is not None:
                    self._folders.add(canonical_url(location))
            except EtlError:
                self._uncertain.append(location)

    def seen(self) -> Seen:
        """Return what was seen."""
        return Seen(sorted(self._folders), self._uncertain, self._targets, self._unclear, self._began_ms)


def _of_target(
    settings: CrawlSettings,
    target: Target,
    existing: Sequence[Table],
    catalog: Catalog,
    chance: random.Random,
    report: CrawlReport,
    seen: _Places,
) -> list[FoundTable]:
    if (single := only_file(target.url)) is not None:
        return _of_file(settings, single, report)
    url = canonical_url(target.url)
    only_new = settings.recrawl == NEW_FOLDERS
    own = [one for one in existing if one.parameters.get(UPDATED_BY) == settings.name] if only_new else []
    known = known_folders(url, own, lambda table: _each_partition(catalog, table))
    one = _listed(settings, target, url, known, chance, report)
    seen.add(one)
    reach("crawl.listed")
    found = _lakes(one, report)
    leaves = list(_outside_lakes(one))
    never: set[str] = set()
    if own:
        fitted = fit(url, own, leaves, combine=settings.combine)
        found += fitted.tables
        report.steps += fitted.steps
        leaves, never = fitted.rest, fitted.never
    grouped = group(url, leaves, one.listing.lakes, _rules(settings, url, never))
    report.steps += grouped.steps
    reach("crawl.grouped")
    return [replace(each, exclusions=target.exclusions) for each in (*found, *grouped.tables)]


def _of_database(
    target: JdbcTarget, own: Iterable[Table], ask: Inventory, report: CrawlReport, seen: _Places
) -> list[FoundTable]:
    engine, there = ask(target)
    found = found_relations(target, engine, there)
    covered = [
        place_of(target.connection, one.storage.location)
        for one in own
        if is_of_database(one)
        and one.parameters["connectionName"] == target.connection
        and (path := path_of(target.database, one.storage.location)) is not None
        and is_meant(target, path)
    ]
    seen.add_relations((one.relation for one in found if one.relation is not None), covered)
    outcome = f"{counted(len(found), 'table')} of {len(there)}"
    report.steps.append(Step(target.title, "the tables of the database", "path and exclusions choose", outcome))
    return found


def _rules(settings: CrawlSettings, url: str, never: Iterable[str]) -> GroupRules:
    match parse_url(url):
        case LocalRoot(path):
            level = len(path.parts) - 1
        case root:
            level = 1 + len([part for part in root.prefix.split("/") if part])
    return GroupRules(settings.combine, settings.table_level, level, frozenset(never))


def _of_file(settings: CrawlSettings, single: tuple[SourceStorage, FileEntry], report: CrawlReport) -> list[FoundTable]:
    storage, entry = single
    url = canonical_url(storage.url)
    leaf = Leaf("")
    _count(leaf, entry, _read(settings, url, entry), {}, report, url)
    report.files += 1
    kinds = [kind for kind in leaf.kinds if kind.is_known]
    grouped = group(url, [leaf], (), GroupRules())
    return [replace(one, file=entry.name) for one in grouped.tables] if kinds else []


def _listed(
    settings: CrawlSettings,
    target: Target,
    url: str,
    known: frozenset[str],
    chance: random.Random,
    report: CrawlReport,
) -> _Target:
    """List a target and read the heads of its files, or of some of each folder."""
    if isinstance(root := parse_url(url), LocalRoot) and not root.path.is_dir():
        raise ConfigError(f"There is no folder {url}; correct the path, or mount the disk that has it.")
    storage, listing = open_source(url), Listing()
    one = _Target(url, storage, listing, {})
    kinds: dict[FileKind, FileKind] = {}
    entries = files_of(storage, target, listing, known)
    chosen = entries if target.sample_size is None else _sampled(entries, target.sample_size, chance, one.leaves)
    with ThreadPoolExecutor(_READERS) as pool:
        while some := list(islice(chosen, _AT_ONCE)):
            reach("crawl.reading")
            for entry, found in zip(some, pool.map(lambda each: _read(settings, url, each), some), strict=True):
                leaf = one.leaves.setdefault(entry.folder, Leaf(entry.folder))
                _count(leaf, entry, found, kinds, report, url, is_counted=target.sample_size is not None)
    report.files += listing.files
    report.left_out += [LeftOut(_join(url, folder), why) for folder, why in listing.unreadable]
    return one


def _sampled(
    entries: Iterator[FileEntry], size: int, chance: random.Random, leaves: dict[str, Leaf]
) -> Iterator[FileEntry]:
    """Yield some files of each folder, chosen by chance, and count all of them."""
    samples: dict[str, list[FileEntry]] = {}
    for entry in entries:
        leaf = leaves.setdefault(entry.folder, Leaf(entry.folder))
        leaf.files, leaf.size_bytes = leaf.files + 1, leaf.size_bytes + entry.size_bytes
        held = samples.setdefault(entry.folder, [])
        if len(held) < size:
            held.append(entry)
        elif (at := chance.randrange(leaf.files)) < size:
            held[at] = entry
    for some in samples.values():
        yield from some


def _read(settings: CrawlSettings, url: str, entry: FileEntry) -> Classified:
    """Say what a file is. A file that cannot be read, for whatever reason, is told and does not end the crawl."""
    place = f"{url}/{entry.key}"
    try:
        storage = open_storage(url)
        head = read_head(lambda: storage.reader(entry.key), entry.name, place, entry.size_bytes)
        return classify(head, settings.classifiers)
    except FileNotFoundError:
        return Classified(None, "it was deleted during the crawl")
    except (
        EtlError,
        OSError,
        ValueError,
        ArithmeticError,
        RecursionError,
        LookupError,
        TypeError,
        pa.ArrowException,
    ) as error:
        return Classified(None, str(error) or type(error).__name__)


def _count(
    leaf: Leaf,
    entry: FileEntry,
    found: Classified,
    kinds: dict[FileKind, FileKind],
    report: CrawlReport,
    url: str,
    *,
    is_counted: bool = False,
) -> None:
    if not is_counted:
        leaf.files, leaf.size_bytes = leaf.files + 1, leaf.size_bytes + entry.size_bytes
    if found.kind is None or not found.kind.is_known:
        leaf.left_out_files += 1
        report.left_out_files += 1
        if len(leaf.left_out) < _MOST_LEFT_OUT:
            leaf.left_out.append((entry.name, found.why))
            report.left_out.append(LeftOut(f"{url}/{entry.key}", found.why))
    if found.kind is None:
        return
    kind = kinds.setdefault(found.kind, found.kind)
    tally = leaf.kinds.setdefault(kind, Tally())
    tally.files += 1
    tally.size_bytes += entry.size_bytes
    tally.records += found.records
    tally.seen_bytes += found.seen_bytes
    if len(tally.names) <= MOST_FILES_AS_TABLES:
        tally.names.append((entry.name, entry.size_bytes))


def _lakes(one: _Target, report: CrawlReport) -> list[FoundTable]:
    found = []
    for folder, form in sorted(one.listing.lakes.items()):
        place = _join(one.url, folder)
        try:
            found.append(lake_table(one.storage, one.url, folder, form))
            report.steps.append(Step(place, f"its metadata of {form}", f"a folder of {form} is a table", "one table"))
        except EtlError as error:
            one.listing.unreadable.append((folder, str(error)))
            report.left_out.append(LeftOut(place, str(error)))
    for folder in sorted(one.listing.own):
        place = _join(one.url, folder)
        report.steps.append(
            Step(place, "its folder _gluepot", "jobs of Gluepot write this table", "its data files are looked at")
        )
    return found


def _outside_lakes(one: _Target) -> Iterator[Leaf]:
    lakes = one.listing.lakes
    if not lakes:
        yield from one.leaves.values()
        return
    for folder, leaf in one.leaves.items():
        parts = folder.split("/") if folder else []
        if not any("/".join(parts[:at]) in lakes for at in range(len(parts) + 1)):
            yield leaf


def _crawl_tables(
    settings: CrawlSettings,
    catalog: Catalog,
    chance: random.Random,
    report: CrawlReport,
    write: _Write,
) -> CrawlReport:
    """Bring tables of the catalog up to date; none is made."""
    for each in settings.catalog_targets:
        found = []
        tables = [catalog.table(each.database, name) for name in each.tables]
        for table in tables:
            if not table.storage.location:
                raise ConfigError(f"The table {table.title} has no location, so it cannot be crawled.")
            try:
                fitted = _of_one_table(settings, table, chance, report)
            except EtlError as error:
                report.failed_targets.append(LeftOut(table.storage.location, str(error)))
                continue
            found += fitted.tables
            report.steps += fitted.steps
        one = replace(settings, database=each.database.lower())
        _written(one, catalog, found, Seen((), (), ()), report, write)
    return report


def _of_one_table(settings: CrawlSettings, table: Table, chance: random.Random, report: CrawlReport) -> Fitted:
    url = canonical_url(table.storage.location)
    one = _listed(settings, Target(url), url, frozenset(), chance, report)
    return fit(url, [table], list(one.leaves.values()), combine=True)


def _written(
    settings: CrawlSettings,
    catalog: Catalog,
    found: Sequence[FoundTable],
    seen: Seen,
    report: CrawlReport,
    write: _Write,
) -> CrawlReport:
    """Decide what to write, by what the catalog has at that moment, and write it in one transaction."""
    with catalog.together() as together:
        if write.makes_database and not write.dry_run:
            together.add_database(Database(settings.database))
        tables = [] if write.makes_database and write.dry_run else together.tables(settings.database)
        catalogued = Catalogued(
            {one.name: one for one in tables},
            lambda table: {one.values: Known.of(one) for one in _each_partition(together, table)},
            together.find_partitions,
        )
        actions = plan(settings, found, catalogued, seen, write.run_id)
        reach("crawl.planned")
        if not write.dry_run:
            for action in actions:
                _act(settings.database, together, action, tells=write.tells)
                reach("crawl.writing")
    reach("crawl.written")
    report.tables += actions
    report.found.update(zip((action.table for action in actions), found, strict=False))
    return report


def _each_partition(catalog: Catalog, table: Table) -> Iterator[Partition]:
    """Yield the partitions of a table, some thousand at a time."""
    after = ""
    while some := catalog.partitions_after(table, after, _PARTITIONS_AT_ONCE):
        yield from (one for _, one in some)
        after = some[-1][0]


def _act(database: str, catalog: Catalog, action: Action, *, tells: bool) -> None:
    def noting(operation: str) -> Catalog:
        return catalog.noting(operation) if tells else catalog

    if action.outcome == "deleted":
        noting("DeleteTable").drop_table(database, action.table)
        return
    if action.outcome == "created":
        assert action.body is not None
        table = Table(database, action.table, action.body)
        keys = [key.name for key in table.partition_keys]
        index = [Entry("index", INDEX, {"Keys": keys}, database, action.table)]
        # Jobs may not commit to a table of Iceberg that a crawl finds: another catalog may have it, or a row for jobs.
        indexes = index if keys and action.is_indexed else ()
        noting("CreateTable").add_table(table, indexes, for_jobs=False)
    elif action.body is not None:
        body = action.body
        noting("UpdateTable").change_table(
            database, action.table, lambda now: replace(now, body=body), keep_version=action.is_version
        )
    if action.added or action.changed or action.dropped:
        reach("crawl.partitions")
        table = catalog.table(database, action.table)
        noting("BatchDeletePartition").drop_partitions(table, action.dropped)
        for first in range(0, len(action.added), _PARTITIONS_AT_ONCE):
            some = action.added[first : first + _PARTITIONS_AT_ONCE]
            noting("BatchCreatePartition").add_partitions(table, some)
        for first in range(0, len(action.changed), _PARTITIONS_AT_ONCE):
            some = action.changed[first : first + _PARTITIONS_AT_ONCE]
            noting("BatchUpdatePartition").change_partitions(table, some)


def _join(url: str, folder: str) -> str:
    return f"{url}/{folder}" if folder else url
