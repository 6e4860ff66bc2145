"""Resident memory and number of a job's processes on this machine, from /proc."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["driver", "jvm", "workers"]
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of one role use together."""

    processes: int = 0
    resident_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    parent: int
    resident_bytes: int


def usage_by_role(driver_pid: int, proc: Path = PROC) -> Mapping[Role, Usage]:
    """Return what a driver and the processes below it use; empty where there is no /proc.

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
        found[role] = Usage(found[role].processes + 1, found[role].resident_bytes + one.resident_bytes)
    return found


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
            # `pid (name) state parent ... rss ...`, see proc(5); a name may hold spaces and brackets.
            before, _, after = (folder / "stat").read_text(errors="replace").rpartition(")")
        except OSError:  # it ended while we were looking
            continue
        fields = after.split()
        name = before.partition("(")[2]
        found[int(folder.name)] = _Process(name, int(fields[1]), int(fields[21]) * _page_bytes())
    return found


def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")
