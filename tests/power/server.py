"""The process of a file system that loses power; `machine.py` starts it and sends it commands, one JSON text a line.

It is a process of its own because the kernel's requests must be answered while whoever runs a test waits for a file.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from random import Random
from typing import cast

from tests.power.disk import Disk, Mode
from tests.power.fuse import Mount


def main() -> None:
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # it ends with its standard input
    folder, disk = Path(sys.argv[1]), Disk(cast(Mode, sys.argv[2]))
    try:
        mount = Mount(disk, folder)
    except OSError as error:
        _say({"error": str(error)})
        return
    _say({})
    for line in sys.stdin:
        asked = json.loads(line)
        match asked["do"]:
            case "cut":
                mount.cut()
            case "cut_after":
                mount.cut_after = mount.actions + asked["actions"]
            case "leave":
                mount.leave()
            case "restart":
                mount.leave()
                seed, disk = asked["seed"], mount.disk
                mount = Mount(disk if seed is None else disk.survivors(Random(seed)), folder)
        _say({"lost_power": mount.lost_power.is_set(), "actions": mount.actions, "asked": mount.asked})
    mount.leave()


def _say(answer: dict[str, object]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
