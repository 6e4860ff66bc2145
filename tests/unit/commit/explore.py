"""The real publish code in every situation of a small world; what must never be is a `Violation`."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count

from gluepot.commit import FILES, OpenTable, QueryWrites, Target, Write, place_digest, publish, published, recover
from gluepot.commit.publish import fence
from gluepot.connectors.files.sink.layout import INTENTS
from gluepot.connectors.values import CommitKey, Manifest, SourceRange
from gluepot.core.errors import EtlError, LeaseHeld, TransientError
from gluepot.core.storage import LocalStorage, Storage
from tests.unit.commit.power import ROOT, PowerDisk
from tests.unit.commit.worlds import (
    KEY,
    Crash,
    CrashingStorage,
    MemoryStorage,
    Watch,
    leftovers,
    offsets,
    records,
    staged,
    unwatched,
    visible,
)
from tests.unit.commit.writers import Driver

WHOLE = (offsets(0, 2, "0"), offsets(0, 1, "1"))
OTHER_CUT = (offsets(0, 1, "0"), offsets(1, 2, "0"), offsets(0, 1, "1"))
LONGER = (offsets(0, 3, "0"), offsets(0, 1, "1"))
EARLIER = (offsets(0, 1, "0"),)
BEHIND = offsets(3, 5, "0")
_TRIES = 4


class Violation(AssertionError):
    """Rows are lost or doubled, or a reader of the manifests saw half of something."""


def run_driver(target: Target, token: int, ranges: Sequence[SourceRange]) -> None:
    """Do with one batch what the engine does: recover, run it, try again after trouble that may pass."""
    recover(target, KEY.query_id, token)
    found = published(target, KEY)
    table = OpenTable(target, KEY.batch_id, listed=frozenset([(KEY.ctx, KEY.batch_id)] if found else []))
    for attempt in range(_TRIES):
        if table.adopted(Manifest(KEY, ranges=ranges, token=token)):
            return
        with suppress(TransientError):
            table.publish(staged(target, ranges, attempt=f"try-{attempt}", token=token))
            return


def lost_power() -> int:
    """Cut the power at every step of publishing and of replacing; return the number of situations."""
    situations = 0
    for before, ranges in ((None, WHOLE), (WHOLE, LONGER)):
        allowed = [records(*before) if before else [], records(*ranges)]
        for step in count():
            disk = PowerDisk()
            if before:
                run_driver(_target(disk), 1, before)
            disk.changes_left = step
            with suppress(Crash):
                run_driver(_target(disk), 2, ranges)
            crashed = disk.changes_left == 0
            for survivor in disk.survivors():
                situations += 1
                _restart(survivor, ranges, allowed if crashed else allowed[-1:], f"power lost before step {step}")
            if not crashed:
                break
    return situations


def _restart(disk: PowerDisk, ranges: Sequence[SourceRange], allowed: Sequence[list[str]], where: str) -> None:
    target = _target(disk)
    try:
        seen = manifest_rows(target.table)
        run_driver(target, 3, ranges)
    except (EtlError, OSError) as error:
        raise Violation(f"{where}: {error!r}") from error
    if seen not in allowed:
        raise Violation(f"{where}: readers see {seen}")
    must_hold_once(target.table, ranges, where)


def rewound(watch: Watch = unwatched) -> int:
    """Kill a driver at every step and let a new query go on where the table ends; return the number of situations."""
    situations = 0
    for before, ranges in ((None, WHOLE), (WHOLE, LONGER), (WHOLE, OTHER_CUT)):
        for step in count():
            storage = MemoryStorage(url="table")
            where = f"{before} replaced by {ranges}, killed before step {step}"
            if before:
                first = watch(where, "first", storage)
                run_driver(Target(first, first), 1, before)
            dying = CrashingStorage(watch(where, "second", storage), step)
            ended = False
            with suppress(Crash):
                run_driver(Target(dying, dying), 2, ranges)
                ended = True
            situations += 1
            _follow(storage, where, watch)
            if ended:
                break
    return situations


def woken_by_a_rewind(watch: Watch = unwatched) -> int:
    """Stop a driver before each of its actions, rewind, and wake it before an action of the rewind, or after all."""
    return sum(
        _stopped_anywhere([partial(_woken, before, ranges, watch)])
        for before, ranges in ((None, WHOLE), (WHOLE, LONGER))
    )


def _woken(
    before: Sequence[SourceRange] | None,
    ranges: Sequence[SourceRange],
    watch: Watch,
    stop_driver: int,
    stop_rewind: int,
) -> tuple[bool, bool]:
    storage = MemoryStorage(url="table")
    where = f"{before} replaced by {ranges}, stopped at {stop_driver}, woken at {stop_rewind} of the rewind"
    if before:
        first = watch(where, "first", storage)
        run_driver(Target(first, first), 1, before)
    old = Driver(watch(where, "old", storage), lambda target: run_driver(target, 2, ranges))
    old.advance(stop_driver)
    rewind = Driver(watch(where, "rewind", storage), lambda target: fence(target, KEY, 3))
    rewind.advance(stop_rewind)
    ended = old.finished, rewind.finished
    if not rewind.finished:
        old.advance()
        rewind.advance()
    wanted = _publish_behind(storage, where, watch, token=4)
    old.advance()
    _no_surprise([old, rewind], where)
    recover(Target(storage, storage), KEY.query_id, 5)
    _must_hold(storage, wanted, where)
    return ended


def _follow(storage: MemoryStorage, where: str, watch: Watch) -> None:
    """Publish a batch as the query that has taken the place of the one of the model."""
    _must_hold(storage, _publish_behind(storage, where, watch, token=3), where)


def _publish_behind(storage: MemoryStorage, where: str, watch: Watch, *, token: int) -> list[str]:
    """Publish a batch as a new query; return the rows that the table has to hold from then on."""
    held = manifest_rows(storage)
    watched = watch(where, "new", storage)
    target, new = Target(watched, watched), CommitKey("query-2", 0, "sink", place_digest(storage.url))
    writes = QueryWrites(new.query_id, token, replaced=(KEY.query_id,))
    writes.begin_attempt(0)
    writes.open(target, Manifest(new, token=token), Write(FILES, storage.url, "sink"), lambda _: None)
    publish(target, staged(target, (BEHIND,), attempt="a", key=new, token=token))
    return sorted([*held, *records(BEHIND)])


def _stopped_anywhere(plays: Sequence[Callable[[int, int], tuple[bool, bool]]]) -> int:
    """Play situations for each number of actions after which a first and a second process are stopped.

    Args:
        plays: get the two numbers, and return whether the first and the second process had come to their end.

    Returns:
        The number of situations.
    """
    situations = 0
    for first in count():
        for second in count():
            ended = [play(first, second) for play in plays]
            situations += len(plays)
            if ended[0][1]:
                break
        if ended[0][0]:
            break
    return situations


def two_drivers(watch: Watch = unwatched) -> int:
    """Stop one driver before each of its actions, let a second take over and be stopped too; both orders of waking."""
    return sum(
        _stopped_anywhere([partial(_two, first, second, watch, wakes) for wakes in (True, False)])
        for first, second in _pairs()
    )


def _pairs() -> Iterator[tuple[Sequence[SourceRange], Sequence[SourceRange]]]:
    yield WHOLE, WHOLE
    yield WHOLE, OTHER_CUT
    yield WHOLE, LONGER
    yield WHOLE, EARLIER


def _two(
    first: Sequence[SourceRange],
    second: Sequence[SourceRange],
    watch: Watch,
    wakes: bool,
    stop_first: int,
    stop_second: int,
) -> tuple[bool, bool]:
    storage = MemoryStorage()
    where = f"{first} and {second}, stopped at {stop_first} and {stop_second}, wakes: {wakes}"
    early = Driver(watch(where, "early", storage), lambda target: run_driver(target, 1, first))
    early.advance(stop_first)
    late = Driver(watch(where, "late", storage), lambda target: run_driver(target, 2, second))
    late.advance(stop_second)
    ended = early.finished, late.finished
    must_be_whole(storage, [first, second], where)
    if wakes:
        early.advance()
        must_be_whole(storage, [first, second], where)
    else:
        early.kill()
    late.advance()
    _no_surprise([early, late], where)
    _after_recovery(storage, 2, second, where, watch)
    return ended


def taken_over_while_recovering(watch: Watch = unwatched) -> int:
    """Let a driver stage and announce its batch while a later one recovers the table, go on afterwards, and die."""
    situations = 0
    for stop_second in count():
        for stop_first in count():
            storage = MemoryStorage()
            where = f"recovery stopped at {stop_second}, and the earlier driver {stop_first} actions after its intent"
            early = Driver(watch(where, "early", storage), lambda target: run_driver(target, 1, WHOLE))
            late = Driver(watch(where, "late", storage), lambda target: run_driver(target, 2, WHOLE))
            late.advance(stop_second)
            while not storage.list(INTENTS) and not early.finished:
                early.advance(1)
            ended = late.finished
            late.advance()
            early.advance(stop_first)
            woken = early.finished
            early.kill()
            _no_surprise([early, late], where)
            _after_recovery(storage, 2, WHOLE, where, watch)
            situations += 1
            if woken:
                break
        if ended:
            break
    return situations


def three_drivers(watch: Watch = unwatched) -> int:
    """Stop two drivers one after the other, let a third run, then wake or kill the two in both orders."""
    return sum(
        _stopped_anywhere([partial(_three, ranges, order, watch) for order in ((0, 1), (1, 0), (0,), (1,))])
        for ranges in ((WHOLE, LONGER, WHOLE), (WHOLE, OTHER_CUT, WHOLE), (EARLIER, WHOLE, LONGER))
    )


def _three(
    ranges: Sequence[Sequence[SourceRange]], order: Sequence[int], watch: Watch, stop_first: int, stop_second: int
) -> tuple[bool, bool]:
    storage = MemoryStorage()
    where = f"{ranges}, stopped at {stop_first} and {stop_second}, woken {order}"
    drivers = []
    for token, (stop, held) in enumerate(zip((stop_first, stop_second, None), ranges, strict=True), start=1):
        watched = watch(where, f"driver {token}", storage)
        drivers.append(Driver(watched, lambda target, token=token, held=held: run_driver(target, token, held)))
        drivers[-1].advance(stop)
    ended = drivers[0].finished, drivers[1].finished
    must_be_whole(storage, ranges, where)
    for number in order:
        drivers[number].advance()
        must_be_whole(storage, ranges, where)
    for driver in drivers:
        driver.kill()
    _no_surprise(drivers, where)
    _after_recovery(storage, 3, ranges[-1], where, watch)
    return ended


def _after_recovery(
    storage: Storage, token: int, ranges: Sequence[SourceRange], where: str, watch: Watch = unwatched
) -> None:
    """The batch of the last driver is there, once, whoever else was at work; the next driver removes what is left."""
    if manifest_rows(storage) != records(*ranges):
        raise Violation(f"{where}: the last driver's batch is not what the manifests hold")
    watched = watch(where, "next", storage)
    recover(Target(watched, watched), KEY.query_id, token + 1)
    must_hold_once(storage, ranges, where)


def _no_surprise(drivers: Sequence[Driver], where: str) -> None:
    for driver in drivers:
        if driver.error is not None and not isinstance(driver.error, Crash | LeaseHeld):
            raise Violation(f"{where}: {driver.error!r}")


def must_hold_once(storage: Storage, ranges: Sequence[SourceRange], where: str) -> None:
    """Readers of the folder and of the manifests find every row once, and nothing is left over."""
    _must_hold(storage, records(*ranges), where)


def _must_hold(storage: Storage, rows: list[str], where: str) -> None:
    if visible(storage) != rows:
        raise Violation(f"{where}: the folder holds {visible(storage)}, not {rows}")
    if manifest_rows(storage) != rows:
        raise Violation(f"{where}: the manifests hold {manifest_rows(storage)}, not {rows}")
    if leftovers(storage):
        raise Violation(f"{where}: left over are {leftovers(storage)}")


def must_be_whole(storage: Storage, batches: Sequence[Sequence[SourceRange]], where: str) -> None:
    """A reader of the manifests sees one whole version of the batch, or nothing yet."""
    seen = manifest_rows(storage)
    if seen and seen not in [records(*ranges) for ranges in batches]:
        raise Violation(f"{where}: a reader saw {seen}")


def manifest_rows(storage: Storage) -> list[str]:
    """Return the rows that a reader of the manifests finds; reads the JSON itself, without the product's help."""
    newest: dict[str, tuple[int, dict[str, object]]] = {}
    for key in storage.list("_gluepot/commits"):
        write, generation, _ = key.split(".")
        record = json.loads(storage.get(key))
        newest[write] = max(newest.get(write, (0, {})), (int(generation), record), key=lambda one: one[0])
    rows: list[str] = []
    for _, record in newest.values():
        for file in record["files"]:
            data = storage.get(file["path"])
            if zlib.crc32(data) != file["crc32"]:
                raise Violation(f"{file['path']} has other bytes than its manifest says")
            rows += data.decode().split("\n")
    return sorted(rows)


def _target(disk: PowerDisk) -> Target:
    storage = LocalStorage(ROOT, disk)
    return Target(storage, storage)


def killed_before_lost_power() -> int:
    """Kill a driver at every step, let the next one publish, then cut the power; return the number of situations."""
    situations = 0
    for step in count():
        disk = PowerDisk(changes_left=step)
        ended = True
        try:
            run_driver(_target(disk), 1, WHOLE)
        except Crash:
            ended = False
        disk.changes_left = None
        disk.flushed.clear()  # a new process does not know what the dead one has flushed
        run_driver(_target(disk), 2, WHOLE)
        for survivor in disk.survivors():
            situations += 1
            _restart(survivor, WHOLE, [records(*WHOLE)], f"killed before step {step}, power lost after the next driver")
        if ended:
            break
    return situations
