"""Several drivers on one table, each of them stopped and woken before any of its storage actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from gluepot.commit import Target
from gluepot.core.storage import FileWriter, Storage
from gluepot.core.storage.port import Stretch
from tests.unit.commit.worlds import Crash


class Driver:
    """Runs an action one storage action at a time, as it is told.

    It has a stack of its own and no thread: of all drivers exactly one is at work, and a switch between stacks costs a
    tenth of what two threads need to wake each other.

    Args:
        storage: shared with the other drivers.
        action: gets the table; what it raises is kept in `error`.
    """

    def __init__(self, storage: Storage, action: Callable[[Target], object]) -> None:
        self.error: BaseException | None = None
        self.finished = False
        self._dead = False
        gated = GatedStorage(storage, self)
        self._stack = greenlet(lambda: self._run(action, Target(gated, gated)))
        self._go_on()

    def advance(self, actions: int | None = None) -> int:
        """Let it do some storage actions, or all that are left; return how many it did."""
        done = 0
        while not self.finished and done != actions:
            self._go_on()
            done += 1
        return done

    def kill(self) -> None:
        """It does nothing any more, not even clean up."""
        self._dead = True
        self.advance()

    def _run(self, action: Callable[[Target], object], target: Target) -> None:
        try:
            action(target)
        except BaseException as error:  # noqa: BLE001  whatever it is, the test wants it
            self.error = error
        self.finished = True

    def _go_on(self) -> None:
        """Let it come to its next storage action, or to its end."""
        self._stack.parent = getcurrent()
        self._stack.switch()

    def wait_for_turn(self) -> None:
        if not self._dead:
            assert getcurrent() is self._stack, "a driver's storage actions are those of one thread"
            try:
                self._stack.parent.switch()
            except GreenletExit:  # nobody holds this driver any more
                self._dead = True
        if self._dead:
            raise Crash


@dataclass
class GatedStorage:
    inner: Storage
    driver: Driver

    @property
    def url(self) -> str:
        return self.inner.url

    def _gated(self, action: Callable[..., Any], *arguments: Any) -> Any:
        self.driver.wait_for_turn()
        return action(*arguments)

    def get(self, key: str) -> bytes:
        return self._gated(self.inner.get, key)

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        return self._gated(self.inner.list, folder, skip)

    def put(self, key: str, data: bytes) -> None:
        self._gated(self.inner.put, key, data)

    def create(self, key: str, data: bytes) -> bool:
        return self._gated(self.inner.create, key, data)

    def writer(self, key: str) -> FileWriter:
        return self._gated(self.inner.writer, key)

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        for one in moves:  # the files of a batch move one after the other
            self._gated(self.inner.move, [one])

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._gated(self.inner.delete, [key])

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        self._gated(self.inner.delete_folder, folder, within)
