"""Which files a run reads: a listing against what was read before. Pure; the same answer for the same listing.

new           never read
overwritten   a file of this name was read, this version was not
late          new, in a folder that was read before, and older than Glue would find: counted and read all the same
already read  skipped
too late      older than the look-back window the user set: skipped and counted; a wider window reads it
band full     deferred by `maxFilesInBand`: the newest files wait for the next run
over bound    deferred by `boundedFiles`, `boundedSize`: the newest files wait for the next run
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from operator import attrgetter

from gluepot.connectors.files.source.versions import FilesState, FileVersion, digest_of

MAX_BAND_MS = 900_000


class Verdict(Enum):
    """What becomes of a file in this run."""

    NEW = "new"
    OVERWRITTEN = "overwritten"
    LATE = "late"
    ALREADY_READ = "already read"
    TOO_LATE = "too late"
    BAND_FULL = "band full"
    OVER_BOUND = "over bound"

    __hash__ = object.__hash__  # that of Enum is made of the name, in Python, for each of 100,000 files

    @property
    def is_read(self) -> bool:
        """Whether the run reads it."""
        return self is Verdict.NEW or self is Verdict.OVERWRITTEN or self is Verdict.LATE

    @property
    def is_deferred(self) -> bool:
        """Whether the next run will find it again."""
        return self is Verdict.BAND_FULL or self is Verdict.OVER_BOUND


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a script may say about it (docs/glue 4.5, 5.1).

    Args:
        max_band_ms: how old a file may be for Glue to find it all the same; older ones count as late.
        max_files_in_band: most files younger than the band that one run reads; None for no limit.
        look_back_ms: how far before the last run a late file may be dated; None for no limit. An addition of ours.
        bounded_files: most files of one run.
        bounded_size_bytes: most bytes of one run, unless its first file alone is larger.
    """

    max_band_ms: int = MAX_BAND_MS
    max_files_in_band: int | None = None
    look_back_ms: int | None = None
    bounded_files: int | None = None
    bounded_size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """The plan for one folder.

    Args:
        folder: URL.
        partition: relative to the root.
        is_new: nothing in it was read before.
        counts: files by verdict.
    """

    folder: str
    partition: str
    is_new: bool = False
    counts: Mapping[Verdict, int] = field(default_factory=dict)

    @property
    def listed(self) -> int:
        """Files in it."""
        return sum(self.counts.values())

    @property
    def selected(self) -> int:
        """Files that are to be read, in this run or the next."""
        return sum(count for verdict, count in self.counts.items() if verdict.is_read or verdict.is_deferred)

    @property
    def read(self) -> int:
        """Files that this run reads."""
        return sum(count for verdict, count in self.counts.items() if verdict.is_read)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run reads.

    Args:
        files: oldest first.
        folders: in the order listed.
        judged: every file with its verdict; only where it was asked for.
    """

    files: Sequence[FileVersion] = ()
    folders: Sequence[FolderPlan] = ()
    judged: Sequence[tuple[FileVersion, Verdict]] = ()

    @property
    def counts(self) -> Counter[Verdict]:
        """Files by verdict."""
        total: Counter[Verdict] = Counter()
        for folder in self.folders:
            total.update(folder.counts)
        return total

    @property
    def size_bytes(self) -> int:
        """Bytes to read."""
        return sum(file.size_bytes for file in self.files)

    @property
    def digest(self) -> str:
        """Text that is equal for equal input."""
        return digest_of(self.files)


def plan(
    listing: Iterable[FileVersion], state: FilesState, options: PlanOptions, now_us: int, *, keep_judged: bool = False
) -> Plan:
    """Choose the files of a run.

    Args:
        listing: what is there, each file once, in any order; drawn once, and kept a folder at a time.
        state: what was read before.
        options: limits.
        now_us: start of the run, in microseconds; only `maxFilesInBand` looks at it.
        keep_judged: keep every file with its verdict, also those that are skipped.
    """
    book = _Book(keep=keep_judged)
    names = _Names(state)
    candidates = []
    for folder, in_folder in groupby(listing, attrgetter("folder")):
        read_before = state.identities(folder)
        known: list[FileVersion] = []
        others: list[FileVersion] = []
        for file in in_folder:
            (known if file.identity in read_before else others).append(file)
        book.enter(known, Verdict.ALREADY_READ)
        for file in others:
            verdict = _judged(file, state, options, names)
            if verdict.is_read:
                candidates.append((file, verdict))
            else:
                book.enter([file], verdict)
    candidates.sort(key=lambda one: (one[0].mtime_us, one[0].folder, one[0].name))
    files = []
    for file, verdict in _limited(candidates, options, now_us):
        book.enter([file], verdict)
        if verdict.is_read:
            files.append(file)
    return Plan(tuple(files), book.folders(state), tuple(book.judged))


def plan_range(listing: Iterable[FileVersion], after: FilesState, upto: FilesState) -> Plan:
    """Choose what was read between two states, of what is still there (`--job-bookmark-from`, `-to`)."""
    book = _Book(keep=False)
    files = []
    for file in listing:
        wanted = upto.holds(file) and not after.holds(file)
        book.enter([file], Verdict.NEW if wanted else Verdict.ALREADY_READ)
        if wanted:
            files.append(file)
    files.sort(key=lambda one: (one.mtime_us, one.folder, one.name))
    return Plan(tuple(files), book.folders(after))


def _judged(file: FileVersion, state: FilesState, options: PlanOptions, names: _Names) -> Verdict:
    if file.folder not in state.folders or state.started_us is None:
        return Verdict.NEW
    if options.look_back_ms is not None and file.mtime_us < state.started_us - options.look_back_ms * 1000:
        return Verdict.TOO_LATE
    if file.name in names.of(file.folder):
        return Verdict.OVERWRITTEN
    return Verdict.LATE if file.mtime_us <= state.started_us - options.max_band_ms * 1000 else Verdict.NEW


def _limited(
    candidates: Iterable[tuple[FileVersion, Verdict]], options: PlanOptions, now_us: int
) -> Iterator[tuple[FileVersion, Verdict]]:
    """Yield the candidates, oldest first, with those beyond a limit deferred; once one is, all younger ones are."""
    in_band = size_bytes = 0
    closed: Verdict | None = None
    for files, (file, verdict) in enumerate(candidates, 1):
        size_bytes += file.size_bytes
        in_band += file.mtime_us > now_us - options.max_band_ms * 1000
        if closed is None and _exceeds(in_band, options.max_files_in_band):
            closed = Verdict.BAND_FULL
        too_many = _exceeds(files, options.bounded_files)
        if closed is None and (too_many or (files > 1 and _exceeds(size_bytes, options.bounded_size_bytes))):
            closed = Verdict.OVER_BOUND
        yield file, closed or verdict


def _exceeds(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit


class _Names:
    """Names of the files in a state's folders, made when a folder is first asked for."""

    def __init__(self, state: FilesState) -> None:
        self._state = state
        self._of: dict[str, frozenset[str]] = {}

    def of(self, folder: str) -> frozenset[str]:
        if folder not in self._of:
            self._of[folder] = frozenset(name for name, *_ in self._state.identities(folder))
        return self._of[folder]


@dataclass(slots=True)
class _Book:
    """Counts by folder while files are judged."""

    keep: bool
    counts: dict[str, tuple[str, Counter[Verdict]]] = field(default_factory=dict)
    judged: list[tuple[FileVersion, Verdict]] = field(default_factory=list)

    def enter(self, files: Sequence[FileVersion], verdict: Verdict) -> None:
        """Note the verdict on files of one folder."""
        if not files:
            return
        folder = files[0].folder
        if folder not in self.counts:
            self.counts[folder] = (files[0].partition, Counter())
        self.counts[folder][1][verdict] += len(files)
        if self.keep:
            self.judged += ((file, verdict) for file in files)

    def folders(self, state: FilesState) -> tuple[FolderPlan, ...]:
        return tuple(
            FolderPlan(folder, partition, folder not in state.folders, counts)
            for folder, (partition, counts) in self.counts.items()
        )
