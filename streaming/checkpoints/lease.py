"""One driver per checkpoint: a lease that is taken at the start, renewed while the query runs, and left at the end.

    <checkpoint>/gluepot/lease/<n>.json    the n-th owner: its token, host, process, nonce; created exclusively
    <checkpoint>/gluepot/lease/<n>.beat    when the lease was renewed last; `released` once the owner has left it
    <checkpoint>/gluepot/lease/<n>.lock    locked while the owner's process lives, if the storage has locks

The lease alone does not guarantee that the table is right. It only keeps a second driver from starting, and tells a
driver that was suspended that another one has taken over. The guarantee comes from the token, which is part of every
manifest (see `gluepot.commit`). Each owner gets a higher token than the owner before. Tokens also follow the clock, so
that a checkpoint restored from a copy does not give out a token that the table has seen.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import uuid
from dataclasses import asdict, dataclass, replace
from typing import Self

from gluepot.core.clock import Clock
from gluepot.core.errors import CheckpointError, EtlError, LeaseHeld
from gluepot.core.failpoints import reach
from gluepot.core.leases import TTL_SECS, Free, Taken, Unclear, is_gone, watch
from gluepot.core.logging import get_logger
from gluepot.core.storage import FileLock, Storage

FOLDER = "gluepot/lease"
_KEPT = 2  # number of earlier owners whose files stay, for people who investigate

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a lease.

    Args:
        number: counted from 1; the owner with the highest number owns the checkpoint.
        token: the fencing token, which shuts out earlier owners.
        host: name of the machine.
        pid: the owner's process on that machine.
        nonce: random text that is different for each owner, so that a driver recognizes the file that it wrote.
        locked: whether the owner's process keeps its file locked while it lives. False on storages without locks.
    """

    number: int
    token: int
    host: str
    pid: int
    nonce: str = ""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Beat:
    """When the owner last renewed its lease, by the owner's clock."""

    epoch: float
    released: bool = False


def judge(
    owner: Owner, beat: Beat | None, host: str, now_epoch: float, ttl_secs: float, *, lock_is_free: bool
) -> Free | Taken | Unclear:
    """Tell whether an owner still holds its lease.

    Only a released beat or a free lock proves that the owner is gone (`gluepot.core.leases`). An old beat proves
    nothing, because people set clocks, and clocks of different machines differ.

    Args:
        owner: the newest owner.
        beat: the owner's last beat; None if the owner died before its first one.
        host: the name of our machine.
        now_epoch: the time by our clock, in seconds since 1970 UTC.
        ttl_secs: how long a lease lives without a beat.
        lock_is_free: whether we could lock the owner's file. If the owner had locked it on this machine, its process
            has ended.
    """
    if beat is not None and beat.released:
        return Free()
    if is_gone(owner.host, host, locked=owner.locked, lock_is_free=lock_is_free):
        return Free()
    if owner.host != host or not owner.locked:
        return Unclear()
    # The process lives. It certainly renews its lease only if the beat is recent by the clock that we share. A beat
    # that looks old comes from a stopped process or from a clock that was set.
    return Taken() if beat is not None and abs(now_epoch - beat.epoch) < ttl_secs else Unclear()


def next_owner(last: Owner | None, host: str, pid: int, now_epoch: float, nonce: str, *, locked: bool) -> Owner:
    """Return the owner after `last`, for the process that is about to take the lease."""
    number, token = (last.number, last.token) if last else (0, 0)
    return Owner(number + 1, max(token + 1, int(now_epoch * 1000)), host, pid, nonce, locked)


class Lease:
    """A lease that this process holds, as returned by `take`. The context manager leaves the lease at its end."""

    def __init__(self, storage: Storage, owner: Owner, lock: FileLock | None, clock: Clock, ttl_secs: float) -> None:
        self._storage = storage
        self._owner = owner
        self._lock = lock
        self._clock = clock
        self._ttl_secs = ttl_secs
        self._left = threading.Event()
        self._lost = threading.Event()
        self._renewed_secs = clock.monotonic()
        self._renewer = threading.Thread(target=self._keep_renewing, name="gluepot-lease", daemon=True)
        self._renewer.start()

    @property
    def token(self) -> int:
        """The fencing token."""
        return self._owner.token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._renewer.join()
        if not self.is_lost:
            _put_beat(self._storage, self._owner, Beat(self._clock.epoch(), released=True))
        if self._lock:
            self._lock.release()

    @property
    def is_lost(self) -> bool:
        """Whether another driver has taken over."""
        return self._lost.is_set()

    def check(self) -> None:
        """Make sure that no other driver has taken over.

        Raises:
            LeaseHeld: another driver has.
        """
        if self.is_lost:
            raise LeaseHeld(
                f"another driver took over {self._storage.url} while this one was not heard of for"
                f" {self._ttl_secs:.0f} s; this one ends",
            )

    def confirm(self) -> None:
        """Make sure that no other driver can have taken over by now; ask the storage if renewing it is overdue.

        A driver that was suspended, or whose beats did not arrive, does not know yet that it was replaced.

        Raises:
            LeaseHeld: another driver has taken over.
            EtlError, OSError: the storage cannot be reached, so nobody knows.
        """
        if self._clock.monotonic() - self._renewed_secs > self._ttl_secs / 2:
            self._renew()
        self.check()

    def _keep_renewing(self) -> None:
        while not self._left.wait(self._ttl_secs / 3) and not self.is_lost:
            try:
                self._renew()
            except (EtlError, OSError) as error:
                log.warning("lease_not_renewed", reason=str(error))

    def _renew(self) -> None:
        began_secs = self._clock.monotonic()
        newest = _newest(self._storage)
        if newest is not None and newest.number > self._owner.number:
            self._lost.set()
            log.error("lease_lost", to_host=newest.host, to_pid=newest.pid)
            return
        _put_beat(self._storage, self._owner, Beat(self._clock.epoch()))
        self._renewed_secs = began_secs


def take(
    storage: Storage, clock: Clock, *, host: str | None = None, ttl_secs: float = TTL_SECS, nonce: str | None = None
) -> Lease:
    """Become the owner of a checkpoint.

    If the last owner has not left the lease, and its process is not known to have ended, watch it for `ttl_secs` first.

    Args:
        storage: the storage of the checkpoint.
        clock: used for beats and for waiting.
        host: this machine's name; None to ask the system.
        ttl_secs: how long a lease lives without a beat.
        nonce: random text for this owner; None to draw one.

    Raises:
        LeaseHeld: another driver holds the lease.
    """
    host, nonce = host or socket.gethostname(), nonce or uuid.uuid4().hex
    last = _newest(storage)
    if last is not None:
        _refuse_living(storage, last, host, clock, ttl_secs)
    lock = storage.lock(_path(last.number + 1 if last else 1, "lock"))
    owner = next_owner(last, host, os.getpid(), clock.epoch(), nonce, locked=lock is not None)
    reach("lease.taking")
    created = storage.create(_path(owner.number, "json"), json.dumps(asdict(owner)).encode())
    # A client that lost the reply to its request sends the request again, and then finds the file that it just created.
    if not created and _newest(storage) != owner:
        if lock:
            lock.release()
        raise LeaseHeld(f"another driver took {storage.url} at this moment; stop one of the two")
    _put_beat(storage, owner, Beat(clock.epoch()))
    _forget(storage, owner.number - _KEPT)
    return Lease(storage, owner, lock, clock, ttl_secs)


def holder(storage: Storage, clock: Clock, *, host: str | None = None, ttl_secs: float = TTL_SECS) -> Owner | None:
    """Return the present owner of a checkpoint, None if it is free; for commands that must not disturb a query."""
    last = _newest(storage)
    if last is None:
        return None
    try:
        _refuse_living(storage, last, host or socket.gethostname(), clock, ttl_secs)
    except LeaseHeld:
        return last
    return None


def _refuse_living(storage: Storage, owner: Owner, host: str, clock: Clock, ttl_secs: float) -> None:
    lock = storage.lock(_path(owner.number, "lock")) if owner.locked and owner.host == host else None
    if lock:
        lock.release()
    beat = _beat(storage, owner)
    verdict = judge(owner, beat, host, clock.epoch(), ttl_secs, lock_is_free=lock is not None)
    if isinstance(verdict, Unclear):
        verdict = _watch(storage, owner, beat, clock, ttl_secs)
    if isinstance(verdict, Taken):
        raise LeaseHeld(
            f"{storage.url} belongs to process {owner.pid} on {owner.host}, which runs this query; stop that one, or"
            " give this job a checkpointLocation of its own",
        )


def _watch(storage: Storage, owner: Owner, beat: Beat | None, clock: Clock, ttl_secs: float) -> Free | Taken:
    log.info("lease_watched", host=owner.host, pid=owner.pid, up_to_secs=ttl_secs)

    def look() -> Beat | Free | None:
        now = _beat(storage, owner)
        return Free() if now is not None and now.released else now

    return watch(look, beat, clock, ttl_secs)


def _newest(storage: Storage) -> Owner | None:
    numbers = [int(stem) for key in storage.list(FOLDER) if (stem := _stem(key, ".json")).isdecimal()]
    while numbers:
        number = max(numbers)
        path = _path(number, "json")
        try:
            return replace(Owner(**json.loads(storage.get(path))), number=number)
        except FileNotFoundError:  # a listing may be out of date
            numbers.remove(number)
        except (ValueError, TypeError) as torn:
            raise CheckpointError(f"{storage.url}/{path} cannot be read; remove it if no driver runs") from torn
    return None


def _beat(storage: Storage, owner: Owner) -> Beat | None:
    try:
        return Beat(**json.loads(storage.get(_path(owner.number, "beat"))))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _put_beat(storage: Storage, owner: Owner, beat: Beat) -> None:
    storage.put(_path(owner.number, "beat"), json.dumps(asdict(beat)).encode())


def _forget(storage: Storage, up_to: int) -> None:
    old = [key for key in storage.list(FOLDER) if (stem := _stem(key)).isdecimal() and int(stem) <= up_to]
    storage.delete(old)


def _path(number: int, suffix: str) -> str:
    return f"{FOLDER}/{number}.{suffix}"


def _stem(key: str, suffix: str = "") -> str:
    name = key.rpartition("/")[2]
    return name.removesuffix(suffix) if suffix else name.partition(".")[0]
