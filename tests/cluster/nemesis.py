"""Lets the faults of a schedule happen, and end."""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

from tests.cluster.history import History
from tests.cluster.network import Network, cut_edges
from tests.cluster.nodes import DriverNode, Job, Node, empty, fill
from tests.cluster.schedule import ACTIVE, DRIVERS, Fault


@dataclass
class Nemesis:
    """Works through faults; each has a beginning and, later, an end.

    Args:
        network: of the hosts.
        nodes: by their hosts.
        disks: by the names that faults have for them.
        job: of the drivers.
        history: takes what is done.
        chance: of what a fault leaves open.
    """

    network: Network
    nodes: Mapping[str, Node]
    disks: Mapping[str, Path]
    job: Job
    history: History
    chance: Random
    _held: Counter[tuple[str, str]] = field(default_factory=Counter)

    def run(self, faults: Sequence[Fault], ended: threading.Event) -> None:
        """Do all of it, and return when the last fault has ended."""
        began, number = time.monotonic(), count()
        todo: list[tuple[float, int, Callable[[], None]]] = []
        for fault in faults:
            heapq.heappush(todo, (fault.at_secs, next(number), lambda one=fault: later(one)))

        def later(fault: Fault) -> None:
            end = self._begin(fault)
            if end is not None:
                heapq.heappush(todo, (fault.at_secs + fault.for_secs, next(number), end))

        while todo:
            at, _, do = heapq.heappop(todo)
            if not ended.wait(max(0.0, began + at - time.monotonic())):
                do()

    def _begin(self, fault: Fault) -> Callable[[], None] | None:
        """Begin a fault; return what ends it, None if it has no end or there is nobody to hit."""
        target = self._resolved(fault.target)
        acted = self._act(fault, target)
        facts = {"what": fault.what, "target": target, "detail": fault.detail}
        self.history.note("nemesis", begins=True, hit=acted is not None, for_secs=fault.for_secs, **facts)
        if acted is None or fault.what == "clock":
            return None

        def end() -> None:
            acted()
            self.history.note("nemesis", begins=False, **facts)

        return end

    def _resolved(self, target: str) -> str:
        if ACTIVE not in target.split("|"):
            return target
        owner = self.job.owner() or DRIVERS[0]
        return "|".join(owner if one == ACTIVE else one for one in target.split("|"))

    def _act(self, fault: Fault, target: str) -> Callable[[], None] | None:
        match fault.what:
            case "cut" | "cut-one-way" | "isolate":
                edges = cut_edges(self.network.hosts, fault.what, target)
                self.network.cut(edges)
                return lambda: self.network.mend(edges)
            case "unplug":
                return self._once(("unplug", target), self.network.unplug, self.network.plug)
            case "slow":
                return self._once(("slow", target), self.network.slow, self.network.fast)
            case "fill":
                return self._fill(target)
        node = self.nodes[target]
        match fault.what:
            case "pause":
                node.pause(fault.detail)
                return lambda: node.resume(fault.detail)
            case "clock":
                assert isinstance(node, DriverNode)
                node.set_clock(node.clock_secs + int(fault.detail))
                return lambda: None
            case "kill":
                return self._kill(node, fault.detail)
        raise ValueError(fault.what)

    def _once(
        self, key: tuple[str, str], begin: Callable[[str], None], end: Callable[[str], None]
    ) -> Callable[[], None]:
        """Begin what must not begin twice, such as under two names of one host; the last end ends it."""
        self._held[key] += 1
        if self._held[key] == 1:
            begin(key[1])

        def over() -> None:
            self._held[key] -= 1
            if self._held[key] == 0:
                end(key[1])

        return over

    def _kill(self, node: Node, victim: str) -> Callable[[], None] | None:
        """Kill a process; a server stays down until the fault ends."""
        down = node.kind == "server"
        node.held += down
        struck = node.kill(victim, self.chance)

        def up() -> None:
            node.held -= down

        if not struck:
            up()
            return None
        return up

    def _fill(self, target: str) -> Callable[[], None]:
        """Fill a disk; a server that ends by it stays down until there is room again."""
        disk, node = self.disks[target], self.nodes.get(target)
        if node is not None:
            node.held += 1
        fill(disk)

        def over() -> None:
            empty(disk)
            if node is not None:
                node.held -= 1

        return over
