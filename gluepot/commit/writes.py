"""The tables that a query writes to, and the writes of its newest batch, as one driver knows them.

    writes = QueryWrites(query_id, token, journal)
    writes.begin_attempt(batch_id)
    table = writes.open(target, planned, write)   # before each write; recovers the table the first time
    writes.settle()                               # when the function has returned

The result of a batch is what its last attempt wrote. Earlier attempts may have published to other folders, under other
names, or in another branch of the function. `settle` takes back what the last attempt did not publish again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock, RLock
from typing import Protocol

from gluepot.commit.history import Published, live
from gluepot.commit.journal import Write, place_digest
from gluepot.commit.later import Background, Later, at_once
from gluepot.commit.links import Links
from gluepot.commit.older_layout import move_manifests
from gluepot.commit.overlap import History
from gluepot.commit.publish import adopted, fence, publish, recover
from gluepot.commit.record import CommitRecord
from gluepot.commit.refusal import Origin, refuse_gap, refuse_overlap
from gluepot.commit.rolling import roll_up, unroll
from gluepot.commit.rollup import Summary
from gluepot.commit.tally import Tally
from gluepot.commit.target import Target
from gluepot.connectors.files.sink.layout import commit_key, first_of_folder
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage, open_storage

log = get_logger(__name__)

FILES = "files"

# A table is forgotten if no batch has written to it for this number of batches. The next write to it opens and recovers
# it again.
_KEPT_BATCHES = 100

# Takes back what was published under a key; returns False if it cannot reach the target.
TakeBack = Callable[[Write, CommitKey], bool]
Begin = Callable[[Published], None]
Confirm = Callable[[], None]


def _nobody_asks() -> None:
    pass


@dataclass(slots=True)
class OpenTable:
    """A table of files that the query writes to.

    Args:
        target: its storages.
        used: the last batch that wrote to it.
        history: its contents when it was opened, from the query's point of view; None until it is opened.
        tally: the query's rows in it.
        links: the query's newest batches in it.
        newest: the last write that was published; None if there is none since it was opened.
        gone: keys of the query's missing manifests, each with the key of the later manifest that names it.
        rolled_up_before: everything before this batch is rolled up.
        rolled_up_next: the first batch at which rolling up is tried again.
        listed: ctx and batch of the query's records that were in the table when it was opened.
        tried: the last batch of which a write was about to be published since then, and -1 before the first.
        tried_ctx: which writes of that batch those were.
        later: clears up after publications.
        confirm: see `QueryWrites`.
        changing: the lock for recovering the table and for changing the fields.
    """

    target: Target
    used: int
    later: Later = at_once
    confirm: Confirm = _nobody_asks
    history: History | None = None
    tally: Tally | None = None
    links: Links = field(default_factory=Links)
    newest: CommitKey | None = None
    gone: Sequence[tuple[CommitKey, CommitKey]] = ()
    rolled_up_before: int = 0
    rolled_up_next: int = 0
    listed: frozenset[tuple[str, int]] = frozenset()
    tried: int = -1
    tried_ctx: set[str] = field(default_factory=set)
    changing: Lock = field(default_factory=Lock)

    def adopted(self, planned: Manifest) -> CommitRecord | None:
        """Return the record of a publication that already used a manifest's input; see `gluepot.commit.adopted`.

        Raises:
            LeaseHeld: a later driver has published under this key.
        """
        return None if self._is_new(planned.key) else adopted(self.target, planned)

    def publish(self, manifest: Manifest) -> Committed | AlreadyCommitted:
        """Publish what was staged; see `gluepot.commit.publish`, which says what it raises.

        What can be known without asking the table is not asked: most writes are new.
        """
        self.confirm()
        with self.changing:
            is_new = self._is_new(manifest.key)
            self.tries(manifest.key)
        return publish(self.target, manifest, is_new=is_new, later=self.later)

    def tries(self, key: CommitKey) -> None:
        """Note that something may be published under a key from now on."""
        if key.batch_id > self.tried:
            self.tried, self.tried_ctx = key.batch_id, set()
        self.tried_ctx.add(key.ctx)

    def _is_new(self, key: CommitKey) -> bool:
        """Tell whether this driver is the first to publish under a key, as far as it can know."""
        is_untried = key.batch_id > self.tried or (key.batch_id == self.tried and key.ctx not in self.tried_ctx)
        return is_untried and (key.ctx, key.batch_id) not in self.listed

    def check(self, planned: Manifest, origin: Origin) -> None:
        """Refuse a write that does not continue from the contents of the table.

        Raises:
            CheckpointError: see `refuse_overlap`.
        """
        with self.changing:
            assert self.history is not None  # opened tables have one
            refuse_gap(self.gone, origin, self.target.table.url)
            refuse_overlap(planned, self.history, origin, self.target.table.url)
            self.history = self.history.after(planned)

    def count(self, written: CommitKey, rows: int) -> int:
        """Count a published write, and return the number of the query's rows in the table."""
        with self.changing:
            assert self.tally is not None  # opened tables have one
            self.tally = self.tally.after(written, rows)
            self.links = self.links.after(written.ctx, written.batch_id)
            self.newest = written
            return self.tally.total

    def is_removed(self) -> bool:
        """Tell whether the manifest of the last write is gone, as it is if somebody has removed the table's folder."""
        if self.newest is None:
            return False
        try:
            self.target.table.get(commit_key(self.newest, 1))
        except FileNotFoundError:
            return True
        return False

    def linked(self, planned: Manifest) -> Manifest:
        """Return the manifest of a write with a link to the query's previous batch."""
        with self.changing:
            return replace(planned, previous=self.links.previous(planned.key.ctx, planned.key.batch_id))


class WriteJournal(Protocol):
    """Keeps announced writes until a later driver or attempt asks for them; see `Journal`."""

    @property
    def found(self) -> frozenset[Write]:
        """The writes that earlier drivers or attempts may have published under the newest batch."""

    def announce(self, write: Write, batch_id: int, used: Mapping[Write, int]) -> None:
        """Record a write before it does anything; raise LeaseHeld if a later driver has taken over."""


class QueryWrites:
    """The writes of one query in one driver. Safe to use from several threads.

    Args:
        query_id: id of the query, or of a run outside of streams.
        token: token of the driver.
        journal: journal in the query's checkpoint; None if no batch can be repeated.
        replaced: ids of the queries that this one has replaced; it also settles what they left unfinished.
        storages: opens the folder of a write that is to be taken back.
        background: clears up after publications while the next batch runs; None if that is done at once. The caller
            finishes it when the last batch has ended.
        confirm: called before anything lasting is done; raises LeaseHeld if a later driver has taken over. It is no
            guarantee, since this process may be suspended just after it, but it stops what wakes up before it.
    """

    def __init__(
        self,
        query_id: str,
        token: int = 0,
        journal: WriteJournal | None = None,
        replaced: Sequence[str] = (),
        storages: Callable[[str], Storage] = open_storage,
        background: Background | None = None,
        confirm: Confirm = _nobody_asks,
    ) -> None:
        self.query_id = query_id
        self._token = token
        self._journal = journal
        self._replaced = tuple(replaced)
        self._storages = storages
        self._background = background
        self._confirm = confirm
        self._changing = RLock()
        self._tables: dict[tuple[str, str], OpenTable] = {}
        self._used: dict[Write, int] = {}
        self._undo: dict[Write, TakeBack] = {}
        self._undo_of_kind: dict[str, TakeBack] = {}
        self._owed: dict[str, list[tuple[Write, CommitKey]]] = {}
        self._repeated: set[Write] = set()
        self._batch_id = -1
        self._inherited = frozenset() if journal is None else journal.found

    def begin_attempt(self, batch_id: int) -> None:
        """Begin an attempt: the batch function is about to be called.

        Raises:
            EtlError: what an earlier batch has left cannot be removed.
        """
        if self._background is not None:
            # An attempt stages files where an earlier one of the same batch has left some to be removed.
            (self._background.look if batch_id > self._batch_id else self._background.finish)()
        with self._changing:
            self._batch_id = batch_id
            self._repeated.clear()
            self._used = {one: last for one, last in self._used.items() if last >= batch_id - _KEPT_BATCHES}
            self._undo = {one: undo for one, undo in self._undo.items() if one in self._used}
            self._tables = {at: one for at, one in self._tables.items() if one.used >= batch_id - _KEPT_BATCHES}

    def takes_back(self, kind: str, undo: TakeBack) -> None:
        """Set the function that takes back all writes of a kind; the journal says where they went."""
        self._undo_of_kind[kind] = undo

    def attempted(self, kind: str, place: str) -> frozenset[Write]:
        """Return the writes to a place that attempts of the batch may have published and this one has not made yet."""
        with self._changing:
            attempted = {one for one, last in self._used.items() if last == self._batch_id} | self._inherited
            return frozenset(one for one in attempted - self._repeated if (one.kind, one.place) == (kind, place))

    def knows(self, write: Write) -> bool:
        """Tell whether one of the last batches has made a write."""
        with self._changing:
            return write in self._used or write in self._inherited

    def claim(self, write: Write) -> bool:
        """Note that this attempt makes a write; return False if it has made it already."""
        with self._changing:
            is_new = write not in self._repeated
            self._repeated.add(write)
            return is_new

    def take_back_from(self, kind: str, place: str) -> None:
        """Take back now what earlier attempts of the batch may have published to a place; see `settle`."""
        for write in sorted(self.attempted(kind, place)):
            self._take_back(write)
            with self._changing:
                self._used.pop(write, None)
                self._inherited -= {write}

    def announce(self, write: Write, batch_id: int, undo: TakeBack | None = None) -> None:
        """Record a write before it does anything that lasts.

        Args:
            write: the write that is about to begin.
            batch_id: id of the batch.
            undo: a function that takes back this write and others to the same database; None for files.

        Raises:
            LeaseHeld: a later driver has taken over.
        """
        self._confirm()
        with self._changing:
            self._used[write] = batch_id
            self._repeated.add(write)
            if undo is not None:
                self._undo[write] = undo
            used = dict(self._used)
            owed = [] if undo is None else self._owed.pop(write.place, [])
        if self._journal is not None:
            self._journal.announce(write, batch_id, used)
        for earlier, key in owed:
            if undo is not None:
                undo(earlier, key)

    def open(
        self, target: Target, planned: Manifest, write: Write, begin: Begin, *, looks_again: bool = False
    ) -> OpenTable:
        """Return the table of a write; the first call recovers what a dead driver left in the table.

        Args:
            target: where the write goes.
            planned: the write's manifest without parts.
            write: the write as it is announced.
            begin: called once for each table that is opened, with its live records, before any other thread gets it.
            looks_again: whether to look, by one request, whether the table was removed since its last write, and to
                begin it anew then. A stream does not: manifests that are gone are found at its next start.

        Raises:
            CheckpointError: a manifest cannot be read.
            LeaseHeld: a later driver has taken over.
        """
        self.announce(write, planned.key.batch_id)
        with self._changing:
            later = self._background or at_once
            unopened = OpenTable(target, planned.key.batch_id, later, self._confirm)
            table = self._tables.setdefault(write.folders, unopened)
            table.used = max(table.used, planned.key.batch_id)
        with table.changing:  # of several threads none may stage before the folder is clean
            if table.history is None:
                self._recover(target, planned.key.target)
                self._begin(table, planned, write, begin)
            elif looks_again and table.is_removed():
                log.info("table_begins_anew", table=target.table.url, reason="its folder was removed")
                table.newest = None
                self._begin(table, planned, write, begin)
        return table

    def _begin(self, table: OpenTable, planned: Manifest, write: Write, begin: Begin) -> None:
        storage, key = table.target.table, planned.key
        # Batches that are rolled up are normally not published again, but a restored checkpoint may be behind them.
        unroll(storage, self.query_id, first_of_folder(key.batch_id))
        published = live(storage)
        self._find_unannounced(published.tail, write)
        begin(published)
        summary = published.summaries.get(self.query_id, Summary())
        batches = [(one.key.ctx, one.key.batch_id) for one in published.tail if one.key.query_id == self.query_id]
        table.links = Links.of([*batches, *summary.newest.items()], key.batch_id)
        table.listed = frozenset(batches)
        table.gone = [(gone, by) for gone, by in published.missing() if gone.query_id == self.query_id]
        table.tally = Tally.of(published.tail, key, summary.rows_out)
        table.history = History.of(published.tail, self.query_id, published.summaries)

    def has_to_roll_up(self) -> bool:
        """Tell whether `roll_up` would find something to do."""
        with self._changing:
            return bool(self._to_roll_up())

    def roll_up(self, *, with_gaps: bool) -> None:
        """Roll up the manifests of finished batches where there are enough of them; see `gluepot.commit.rolling`.

        This may run at the same time as batches. After a failure, it is tried again some batches later.

        Args:
            with_gaps: whether missing manifests are accepted.

        Raises:
            CheckpointError, TransientError: as `gluepot.commit.rolling.roll_up`.
        """
        if self._background is not None:
            self._background.finish()  # of an intent without a manifest, recovery undoes the publication
        with self._changing:
            due, before = self._to_roll_up(), first_of_folder(self._batch_id)
            for table in due:
                table.rolled_up_next = self._batch_id + _KEPT_BATCHES
        for table in due:
            roll_up(table.target.table, self.query_id, self._token, before, with_gaps=with_gaps)
            table.rolled_up_before = before

    def _to_roll_up(self) -> Sequence[OpenTable]:
        before = first_of_folder(self._batch_id)
        return [
            one
            for one in self._tables.values()
            if one.history and one.rolled_up_before < before and one.rolled_up_next <= self._batch_id
        ]

    def settle(self) -> None:
        """Take back what earlier attempts of the batch have published and the last one did not publish again.

        To take back what an earlier driver may have written to a database, this needs a write of this driver to the
        same database. If there is none, it waits for the next write to the same table.

        Raises:
            LeaseHeld: a later driver has taken over.
        """
        with self._changing:
            attempted = {one for one, last in self._used.items() if last == self._batch_id} | self._inherited
            due = sorted(attempted - self._repeated)
        for write in due:
            self._take_back(write)
        with self._changing:
            self._inherited = frozenset()

    def fence(self, batch_id: int) -> None:
        """Keep earlier drivers from publishing a batch's writes to files; what they have published stays as it is.

        Their writes to databases and lake tables are not kept out.

        Args:
            batch_id: the batch that they have begun and may still be running.

        Raises:
            LeaseHeld: a later driver has taken over.
        """
        for write in sorted(one for one in self._inherited if one.kind == FILES):
            target = self._target(write)
            move_manifests(target.table, (self.query_id,))
            fence(target, CommitKey(self.query_id, batch_id, write.ctx, place_digest(write.place)), self._token)
            log.info("earlier_drivers_fenced", table=write.place, write=write.ctx, batch=batch_id)

    def _take_back(self, write: Write) -> None:
        key = CommitKey(self.query_id, self._batch_id, write.ctx, place_digest(write.place))
        reach("settle.taking_back")
        if any(undo(write, key) for undo in self._ways(write)):
            return
        self._owed.setdefault(write.place, []).append((write, key))
        log.warning(
            "write_may_be_left",
            target=write.place,
            batch=self._batch_id,
            hint="an attempt of a driver before this one may have written to it; it is taken back with the next"
            " write to the same target",
        )

    def _ways(self, write: Write) -> Iterable[TakeBack]:
        """Return the functions that may be able to take a write back."""
        if write.kind == FILES:
            return [self._take_back_files]
        if write.kind in self._undo_of_kind:
            return [self._undo_of_kind[write.kind]]
        if write in self._undo:
            return [self._undo[write]]
        # If the mode is unknown, only a write to the same table can tell what became of the rows.
        with self._changing:
            return [undo for one, undo in self._undo.items() if one.kind == write.kind and write.mode]

    def _take_back_files(self, write: Write, key: CommitKey) -> bool:
        target = self._target(write)
        with self._changing:
            opened = self._tables.get(write.folders)
        if opened is None:
            self._recover(target, key.target)
        else:
            with opened.changing:
                opened.tries(key)
        before = publish(target, Manifest(key, token=self._token, work="taken back"))
        log.info("write_taken_back", table=write.place, write=write.ctx, files=len(before.files))
        return True

    def _target(self, write: Write) -> Target:
        table = self._storages(write.place)
        return Target(table, self._storages(write.rejects) if write.rejects else table)

    def _recover(self, target: Target, place: str) -> None:
        query_ids = (self.query_id, *self._replaced)
        move_manifests(target.table, query_ids)
        for query_id in query_ids:
            recover(target, query_id, self._token, place)

    def _find_unannounced(self, records: Iterable[CommitRecord], like: Write) -> None:
        """Note what an older Gluepot without a journal has published under the batch."""
        with self._changing:
            for one in records:
                if (one.key.query_id, one.key.batch_id) == (self.query_id, self._batch_id) and one.files:
                    write = Write(like.kind, like.place, one.key.ctx, like.rejects)
                    self._used[write] = self._batch_id
