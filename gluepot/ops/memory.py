"""Reads memory, processor time and number of a job's processes on this machine from /proc."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from gluepot.spark.fork_server import SERVER_NAME

Role = Literal["driver", "jvm", "workers"]
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that the processes of one role use together.

    Args:
        processes: number of processes.
        resident_bytes: their memory; shared pages are counted in each process.
        cpu_secs: their processor time, including that of processes that have ended, so that it never falls.
        pids: ids of the processes.
    """

    processes: int = 0
    resident_bytes: int = 0
    cpu_secs: float = 0.0
    pids: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    parent: int
    resident_bytes: int
    cpu_secs: float
    ended_cpu_secs: float


def usage_by_role(driver_pid: int, proc: Path = PROC) -> Mapping[Role, Usage]:
    """Return what a driver and its descendants use, by role; empty if there is no /proc.

    Args:
        driver_pid: the driver's process.
        proc: the folder of processes.
    """
    processes = _processes(proc)
    if driver_pid not in processes:
        return {}
    found: dict[Role, Usage] = {"driver": Usage(), "jvm": Usage(), "workers": Usage()}
    for pid in _family(processes, driver_pid):
        one = processes[pid]
        role: Role = "driver" if pid == driver_pid else "jvm" if one.name == "java" else "workers"
        if one.name != SERVER_NAME:  # it only forks planners; its pages are those of the driver
            found[role] = _with(found[role], pid, one)
        # A process also reports the time of children that have ended. The driver's child is Java, Java's are workers.
        below: Role = "jvm" if role == "driver" else "workers"
        found[below] = replace(found[below], cpu_secs=found[below].cpu_secs + one.ended_cpu_secs)
    return found


def _with(usage: Usage, pid: int, one: _Process) -> Usage:
    return Usage(
        usage.processes + 1,
        usage.resident_bytes + one.resident_bytes,
        usage.cpu_secs + one.cpu_secs,
        (*usage.pids, pid),
    )


def _family(processes: Mapping[int, _Process], first: int) -> list[int]:
    children = defaultdict(list)
    for pid, one in processes.items():
        children[one.parent].append(pid)
    family = [first]
    for pid in family:
        family += children[pid]
    return family


def _processes(proc: Path) -> dict[int, _Process]:
    found = {}
    for folder in proc.glob("[0-9]*"):
        try:
            # `pid (name) state parent ... utime stime cutime cstime ... rss ...`, see proc(5); names may
            # contain spaces and brackets.
            before, _, after = (folder / "stat").read_text(errors="replace").rpartition(")")
        except OSError:  # the process ended meanwhile
            continue
        fields = after.split()
        name = before.partition("(")[2]
        utime, stime, cutime, cstime = (int(ticks) / _ticks_per_sec() for ticks in fields[11:15])
        found[int(folder.name)] = _Process(
            name, int(fields[1]), int(fields[21]) * _page_bytes(), utime + stime, cutime + cstime
        )
    return found


def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _ticks_per_sec() -> int:
    return os.sysconf("SC_CLK_TCK")
