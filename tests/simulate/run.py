"""Plays stories, and shortens one that fails until every part of it is needed."""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from tests.model.changes import Change
from tests.simulate import plugs
from tests.simulate.broker import Broker
from tests.simulate.disk import Disk, Folder
from tests.simulate.objects import ObjectStore
from tests.simulate.plan import Plan
from tests.simulate.story import Outcome, Story
from tests.simulate.world import Violation, World


def play(plan: Plan, watcher: Callable[[Change], None] | None = None) -> Outcome:
    """Play a plan in a new world.

    Args:
        plan: what happens.
        watcher: is told each change of disk and store.

    Raises:
        Violation: with the end of the trace as a note.
    """
    world = World(plan.seed)
    if watcher is not None:
        world.watchers.append(watcher)
    disk = Disk(world)
    disk.root.change("lake", Folder())
    disk.root.sync()
    disks = {"a": disk, "b": disk}  # a shared file system
    store, broker = ObjectStore(world), Broker(world)
    folder = Path(tempfile.mkdtemp(prefix="gluepot-simulated-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    random.seed(plan.seed)
    try:
        with plugs.plugged(disks, store, broker):
            try:
                return Story(plan, world, disks, store, broker, folder).play()
            except Violation as violation:
                violation.add_note(world.tale())
                raise
            finally:
                world.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        threading._active = {  # type: ignore[attr-defined]
            ident: one
            for ident, one in threading._active.items()
            if one is threading.main_thread()  # type: ignore[attr-defined]
        }
