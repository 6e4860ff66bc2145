"""One crawl: lists, reads heads, groups, and writes all that it decided in one transaction."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice

import pyarrow as pa

from gluepot.catalog.connections import jdbc_connection, load
from gluepot.catalog.databases import connection_of, is_of_database
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Database, Entry, Partition, Table
from gluepot.core.errors import ConfigError, EtlError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.plural import counted
from gluepot.core.storage import Entry as FileEntry
from gluepot.core.storage import LocalRoot, SourceStorage, canonical_url, open_source, open_storage, parse_url
from gluepot.crawl.classify.builtin import classify
from gluepot.crawl.classify.head import read_head
from gluepot.crawl.documents import Look, found_collection, is_meant_at, look
from gluepot.crawl.events import ChangedPlaces
from gluepot.crawl.grouping import MOST_FILES_AS_TABLES, GroupRules, group
from gluepot.crawl.items import Scan, found_items, is_table, scan
from gluepot.crawl.known import Fitted, fit, known_folders, root_of, roots_of
from gluepot.crawl.lakes import lake_table
from gluepot.crawl.listing import Listing, files_in, files_of, has_files, only_file
from gluepot.crawl.names import path_of, place_of
from gluepot.crawl.plan import Action, Catalogued, Known, Seen, plan
from gluepot.crawl.queues import MOST_MESSAGES, EventQueue, Round, dead_letters_of, next_round, open_queue
from gluepot.crawl.relations import Inventory, found_relations, inventory, is_meant
from gluepot.crawl.settings import EVENTS, NEW_FOLDERS, CrawlSettings, DynamodbTarget, JdbcTarget, MongodbTarget, Target
from gluepot.crawl.tables import INDEX, UPDATED_BY
from gluepot.crawl.values import Classified, FileKind, FoundRelation, FoundTable, Leaf, Step, Tally

# Heads are waited for more than they are computed.
_READERS = 8
_AT_ONCE = 256
_PARTITIONS_AT_ONCE = 2000
_MOST_LEFT_OUT, _MOST_NOTES = 20, 100


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
        messages: of event queues that were received.
        misunderstood: messages of event queues that are not understood, each with the reason; the first ones.
        misunderstood_messages: how many there are of that kind.
        undeleted: queues whose messages could not be deleted, each with the reason.
    """

    tables: list[Action] = field(default_factory=list)
    found: dict[str, FoundTable] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    left_out_files: int = 0
    files: int = 0
    failed_targets: list[LeftOut] = field(default_factory=list)
    messages: int = 0
    misunderstood: list[LeftOut] = field(default_factory=list)
    misunderstood_messages: int = 0
    undeleted: list[LeftOut] = field(default_factory=list)

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
    scan_items: Scan = scan,
    look_at: Look = look,
    open_queue: Callable[[str], EventQueue] = open_queue,
    most_messages: int = MOST_MESSAGES,
) -> CrawlReport:
    """Crawl, and write to the catalog what was found, all of it or nothing.

    A crawl by events does so for each round of messages, and deletes these then.

    Args:
        settings: of the crawler.
        catalog: that gets the tables.
        chance: chooses samples.
        run_id: of the crawl; written into tables.
        make_database: make the database if there is none of its name.
        dry_run: write nothing.
        tells: note the changes of the catalog, which the service tells as events.
        ask: lists the tables of a database.
        scan_items: looks at a table of DynamoDB.
        look_at: looks at collections of MongoDB.
        open_queue: opens a queue with events, by its ARN.
        most_messages: how many messages a round takes.

    Raises:
        ConfigError: there is no such database, there are more tables than allowed, or no target can be crawled.
    """
    report = CrawlReport()
    write = _Write(run_id, dry_run=dry_run, tells=tells)
    databases = _databases(settings, catalog, make_database=make_database)
    if settings.catalog_targets:
        return _crawl_tables(settings, catalog, chance, report, write)
    write = replace(write, makes_database=not databases)
    if settings.recrawl == EVENTS:
        return _EventCrawl(settings, catalog, chance, report, write, open_queue, most_messages).run()
    existing = catalog.tables(settings.database) if databases else []
    seen, found = _Places(catalog.now_ms()), list[FoundTable]()
    reach("crawl.begun")
    for target in settings.targets:
        try:
            found += _of_target(settings, target, existing, catalog, chance, report, seen)
        except EtlError as error:
            report.failed_targets.append(LeftOut(target.url, str(error)))
    own = [one for one in existing if one.parameters.get(UPDATED_BY) == settings.name]
    for store in settings.database_targets:
        try:
            match store:
                case JdbcTarget():
                    found += _of_database(store, own, ask, report, seen)
                case DynamodbTarget():
                    found += _of_dynamodb(store, own, scan_items, report, seen)
                case MongodbTarget():
                    found += _of_mongodb(store, own, look_at, report, seen)
        except EtlError as error:
            report.failed_targets.append(LeftOut(store.title, str(error)))
    _check_targets(settings, report)
    seen.add_files(one for one in own if not is_of_database(one))
    reach("crawl.classified")
    return _written(settings, catalog, found, seen.seen(), report, write)


def _check_targets(settings: CrawlSettings, report: CrawlReport) -> None:
    if len(report.failed_targets) == len(settings.targets) + len(settings.database_targets):
        raise ConfigError(f"No target could be crawled. {report.failed_targets[0].why}")


def _databases(settings: CrawlSettings, catalog: Catalog, *, make_database: bool) -> bool:
    """Return whether the database is there.

    Raises:
        ConfigError: it is not, and is not to be made.
    """
    names = {one.name for one in catalog.databases()}
    makes = bool(settings.targets or settings.database_targets)
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
        self._named: set[str] = set()
        self._unclear: list[str] = []

    def add(self, one: _Target) -> None:
        """Add a target that was listed."""
        self._targets.append(one.url)
        self._note(one)

    def add_named(self, one: _Target, named: Iterable[str], full: Iterable[str]) -> None:
        """Add a target of which only some folders were listed.

        Args:
            one: the target.
            named: these folders, and others that were looked at as a whole.
            full: folders that have files somewhere below.
        """
        self._named.update(_join(one.url, folder) for folder in named)
        self._folders.update(_join(one.url, folder) for folder in full)
        self._note(one)

    def add_named_file(self, url: str) -> None:
        """Add a target that is a file."""
        self._named.add(url)
        self._folders.add(url)

    def _note(self, one: _Target) -> None:
        self._folders.update(_join(one.url, folder) for folder in one.listing.folders)
        self._uncertain += [_join(one.url, folder) for folder, _ in one.listing.unreadable]
        self._unclear += [_join(one.url, folder) for folder, leaf in one.leaves.items() if leaf.left_out_files]

    def add_relations(self, found: Iterable[FoundRelation], covered: Iterable[str]) -> None:
        """Add tables of a database that were found, and the places of all that would have been, were they there."""
        self._folders.update(place_of(one.connection, one.location) for one in found)
        self._targets += covered

    def add_files(self, tables: Iterable[Table], *, only_named: bool = False) -> None:
        """Look for the files of tables that are files, because listings are remembered by folders.

        Args:
            tables: of the crawler.
            only_named: only for those in folders that events named.
        """
        for table in tables:
            location = table.storage.location
            if location.endswith("/") or not location:
                continue
            if (place := canonical_url(location)).rpartition("/")[0] in self._named:
                self._named.add(place)
            elif only_named and place not in self._named:
                continue
            try:
                if only_file(location) is not None:
                    self._folders.add(place)
            except EtlError:
                self._uncertain.append(location)

    def seen(self) -> Seen:
        """Return what was seen."""
        return Seen(
            sorted(self._folders), sorted(self._uncertain), self._targets, self._unclear, self._began_ms, self._named
        )


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
    known = known_folders(url, own, catalog.partition_locations)
    one = _listed(
        settings, target, url, chance, report, lambda storage, one, listing: files_of(storage, one, listing, known)
    )
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


def _of_events(
    settings: CrawlSettings,
    target: Target,
    changed: ChangedPlaces,
    own: Sequence[Table],
    chance: random.Random,
    report: CrawlReport,
    seen: _Places,
) -> list[FoundTable]:
    """Look at the places of a target that events name, and at nothing else."""
    url = canonical_url(target.url)
    what = f"the events of {target.queue}"
    report.steps.append(Step(url, what, "only folders that events name are listed", counted(changed.number, "folder")))
    report.left_out += [LeftOut(one, "the key is not a path, so it cannot be listed") for one in sorted(changed.odd)]
    if not changed.number:
        return []
    if (single := only_file(target.url)) is not None:
        seen.add_named_file(url)
        return _of_file(settings, single, report)
    roots = roots_of(url, own)
    lakes = {root for root, table in roots.items() if "table_type" in table.parameters}
    keyed = {root: table for root, table in roots.items() if table.partition_keys and root not in lakes}
    folders = sorted(folder for folder in changed.folders if root_of(folder, lakes) is None)
    one = _listed(
        settings,
        target,
        url,
        chance,
        report,
        lambda storage, one, listing: files_in(storage, one, listing, folders, keyed),
    )
    reach("crawl.listed")
    gone_lakes = _noted_lakes(one, changed)
    found = _lakes(one, report)
    leaves = list(_outside_lakes(one))
    # Files beside the folders of partitions are tables of their own.
    inside = [leaf for leaf in leaves if leaf.folder not in keyed]
    fitted = fit(url, [*keyed.values()], inside, combine=settings.combine, emptied=one.listing.emptied)
    report.steps += fitted.steps
    # A table is gone only if it has no file at all, and events may have named some of its folders.
    doubtful = {root for folder in one.listing.emptied if (root := root_of(folder, roots)) is not None}
    doubtful -= {table.folder for table in fitted.tables if table.parts}
    full = {root for root in doubtful if has_files(one.storage, root)}
    seen.add_named(one, {*folders, *gone_lakes, *(doubtful - full)}, full)
    found += fitted.tables
    beside = [leaf for leaf in leaves if leaf.folder in keyed]
    with_folders = frozenset((one.listing.with_folders - roots.keys()) | keyed.keys())
    rules = replace(_rules(settings, url, roots), with_folders=with_folders)
    grouped = group(url, [*fitted.rest, *beside], one.listing.lakes, rules)
    report.steps += grouped.steps
    reach("crawl.grouped")
    return [replace(each, exclusions=target.exclusions) for each in (*found, *grouped.tables)]


def _noted_lakes(one: _Target, changed: ChangedPlaces) -> set[str]:
    """Note the lake tables whose metadata have changed; return the folders of those that are gone."""
    for folder, form in changed.lakes.items():
        one.listing.lakes.setdefault(folder, form)
    gone = {folder for folder in one.listing.lakes if not has_files(one.storage, folder)}
    for folder in gone:
        del one.listing.lakes[folder]
    return gone


@dataclass(slots=True)
class _EventCrawl:
    """A crawl of the folders that messages name, and of targets without tables as a whole.

    A round takes messages, writes what was found in one transaction, and deletes the messages then. If the crawl ends
    before that, they come again, and what they name is in the catalog already.

    Args:
        settings: of the crawler.
        catalog: that gets the tables.
        chance: chooses samples.
        report: grows.
        write: how it writes.
        open_queue: opens a queue by its ARN.
        most_messages: of a round.
    """

    settings: CrawlSettings
    catalog: Catalog
    chance: random.Random
    report: CrawlReport
    write: _Write
    open_queue: Callable[[str], EventQueue]
    most_messages: int

    def run(self) -> CrawlReport:
        """Crawl, queue by queue."""
        reach("crawl.begun")
        of_queue: defaultdict[str, list[Target]] = defaultdict(list)
        for target in self.settings.targets:
            of_queue[target.queue].append(target)
        for arn, targets in of_queue.items():
            try:
                queue = self.open_queue(arn)
            except EtlError as error:
                self._fail(targets, error)
                continue
            with closing(queue):
                self._rounds(queue, targets)
        if not self.report.tables:
            _check_targets(self.settings, self.report)
        return self.report

    def _rounds(self, queue: EventQueue, targets: Sequence[Target]) -> None:
        own = self._own_tables()
        whole = {one.url for one in targets if not roots_of(canonical_url(one.url), own)}
        received = self._received(queue, targets)
        while received is not None and (received.messages or whole):
            if not self._write_round(targets, received, whole):
                return  # The messages come again.
            # The messages of a dry run stay, so a second round might get them again.
            is_last = received.is_last or self.write.dry_run
            if not self.write.dry_run and not self._deleted(queue, received):
                return
            received, whole = None if is_last else self._received(queue, targets), set()

    def _received(self, queue: EventQueue, targets: Sequence[Target]) -> Round | None:
        """Return messages; None if the queue does not give them."""
        try:
            found = next_round(
                queue, targets, self.most_messages, keeps_all=self.write.dry_run, open_queue=self.open_queue
            )
        except EtlError as error:
            self._fail(targets, error)
            return None
        other = dead_letters_of(targets)
        then = f"it was sent to {other}" if other else "it was deleted"
        then = "it stays in the queue" if self.write.dry_run else then
        self.report.misunderstood += [
            LeftOut(f"message {number} of {queue.arn}", f"{why}; {then}") for number, why in found.misunderstood
        ]
        self.report.misunderstood_messages += found.misunderstood_messages
        self.report.messages += found.messages
        reach("crawl.received")
        return found

    def _write_round(self, targets: Sequence[Target], received: Round, whole: Collection[str]) -> bool:
        """Crawl what messages name, and write it; return whether all targets could be crawled."""
        own, failed = self._own_tables(), len(self.report.failed_targets)
        seen, found = _Places(self.catalog.now_ms()), list[FoundTable]()
        for target, changed in zip(targets, received.changed, strict=True):
            try:
                found += (
                    _of_target(self.settings, target, (), self.catalog, self.chance, self.report, seen)
                    if target.url in whole
                    else _of_events(self.settings, target, changed, own, self.chance, self.report, seen)
                )
            except EtlError as error:
                self._fail([target], error)
        seen.add_files(own, only_named=not whole)
        reach("crawl.classified")
        _written(self.settings, self.catalog, found, seen.seen(), self.report, self.write)
        self.write = replace(self.write, makes_database=self.write.makes_database and self.write.dry_run)
        return len(self.report.failed_targets) == failed

    def _deleted(self, queue: EventQueue, received: Round) -> bool:
        try:
            queue.delete(list(received.receipts.values()))
        except EtlError as error:
            self.report.undeleted.append(LeftOut(queue.arn, f"{error} Its messages come again, which changes nothing."))
            return False
        received.receipts.clear()  # The next round needs the memory.
        return True

    def _own_tables(self) -> list[Table]:
        existing = [] if self.write.makes_database else self.catalog.tables(self.settings.database)
        return [
            one for one in existing if one.parameters.get(UPDATED_BY) == self.settings.name and not is_of_database(one)
        ]

    def _fail(self, targets: Iterable[Target], error: EtlError) -> None:
        self.report.failed_targets += [LeftOut(one.url, str(error)) for one in targets]


def _of_database(
    target: JdbcTarget, own: Iterable[Table], ask: Inventory, report: CrawlReport, seen: _Places
) -> list[FoundTable]:
    engine, there = ask(target)
    found = found_relations(target, engine, there)
    covered = [
        place_of(target.connection, one.storage.location)
        for one in own
        if is_of_database(one)
        and connection_of(one) == target.connection
        and (path := path_of(target.database, one.storage.location)) is not None
        and is_meant(target, path)
    ]
    seen.add_relations((one.relation for one in found if one.relation is not None), covered)
    outcome = f"{counted(len(found), 'table')} of {len(there)}"
    report.steps.append(Step(target.title, "the tables of the database", "path and exclusions choose", outcome))
    return found


def _of_dynamodb(
    target: DynamodbTarget, own: Iterable[Table], scan_items: Scan, report: CrawlReport, seen: _Places
) -> list[FoundTable]:
    scanned = scan_items(target)
    found = [] if scanned is None else [found_items(scanned)]
    covered = [
        place_of("", one.storage.location)
        for one in own
        if is_of_database(one) and not connection_of(one) and is_table(target, one.storage.location)
    ]
    seen.add_relations((one.relation for one in found if one.relation is not None), covered)
    outcome = counted(len(scanned.schema), "column") if scanned else "no such table"
    report.steps.append(Step(target.title, "the items", "all of them" if target.scans_all else "a sample", outcome))
    return found


def _of_mongodb(
    target: MongodbTarget, own: Iterable[Table], look_at: Look, report: CrawlReport, seen: _Places
) -> list[FoundTable]:
    scanned = look_at(target)
    found = [found_collection(target, one) for one in scanned]
    covered = [
        place_of(target.connection, one.storage.location)
        for one in own
        if is_of_database(one) and connection_of(one) == target.connection and is_meant_at(target, one.storage.location)
    ]
    seen.add_relations((one.relation for one in found if one.relation is not None), covered)
    what = "all of them" if target.scans_all else "a sample of each"
    report.steps.append(Step(target.title, "the documents", what, counted(len(found), "collection")))
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
    chance: random.Random,
    report: CrawlReport,
    walk: Callable[[SourceStorage, Target, Listing], Iterator[FileEntry]] = files_of,
) -> _Target:
    """List a target and read the heads of its files, or of some of each folder."""
    if isinstance(root := parse_url(url), LocalRoot) and not root.path.is_dir():
        raise ConfigError(f"There is no folder {url}; correct the path, or mount the disk that has it.")
    storage, listing = open_source(url), Listing()
    one = _Target(url, storage, listing, {})
    kinds: dict[FileKind, FileKind] = {}
    entries = walk(storage, target, listing)
    chosen = entries if target.sample_size is None else _sampled(entries, target.sample_size, chance, one.leaves)
    with ThreadPoolExecutor(_READERS) as pool:
        while some := list(islice(chosen, _AT_ONCE)):
            reach("crawl.reading")
            for entry, found in zip(some, pool.map(lambda each: _read(settings, url, each), some), strict=True):
                leaf = one.leaves.setdefault(entry.folder, Leaf(entry.folder))
                _count(leaf, entry, found, kinds, report, url, is_counted=target.sample_size is not None)
    report.files += listing.files
    report.left_out += [LeftOut(_join(url, folder), why) for folder, why in listing.unreadable[:_MOST_NOTES]]
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
        head = read_head(lambda: storage.reader(entry.key, entry.size_bytes), entry.name, place, entry.size_bytes)
        return classify(head, settings.classifiers)
    except FileNotFoundError:
        return Classified(None, "it was deleted during the crawl")
    except TransientError as error:
        if settings.recrawl == EVENTS:
            raise  # The file is in no later event, so this one must come again.
        return Classified(None, str(error))
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
    one = _listed(settings, Target(url), url, chance, report)
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
