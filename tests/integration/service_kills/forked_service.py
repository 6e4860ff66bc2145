"""A real service whose clock runs fast and whose jobs are shell scripts, forked anew for each line on standard input.

    python -m tests.integration.service_kills.forked_service FOLDER PORT

What a service imports is imported once, before it is forked, so that hundreds can be started and killed. The process
ids are printed. State, database and runs are in FOLDER; so are the clock, and the script `job.sh` that stands for all
jobs and gets the id of its run.
"""

import mmap
import os
import signal
import struct
import sys
import time
from pathlib import Path

from gluepot.core import logging
from gluepot.service.controllers import control
from gluepot.service.decisions.commands import Command
from gluepot.service.launch import drivers
from gluepot.service.server import ServeOptions, service

SPEED = 60.0
WAIT_SECS = 0.02


class FastClock:
    """Time that goes on only while a service lives and works: by so many seconds for each second of processor time.

    So no time of a schedule is missed because a service is being started, or because the machine is busy with something
    else. The time is in a file, where the next service finds it.

    Args:
        path: of the file.
    """

    def __init__(self, path):
        with path.open("r+b") as file:
            self._file = mmap.mmap(file.fileno(), struct.calcsize("d"))
        (self._since,) = struct.unpack("d", self._file[:])

    def epoch(self):
        now = self._since + SPEED * time.process_time()
        struct.pack_into("d", self._file, 0, now)
        return now

    monotonic = epoch

    def sleep(self, secs):
        time.sleep(secs / SPEED)


def serve(folder, port):
    logging.configure(json=True)
    # The clock runs fast, but workers wait by that of the machine.
    control._BUSY_WAIT_SECS = control._IDLE_WAIT_SECS = WAIT_SECS
    drivers.command_of = lambda run, *_: Command(["/bin/sh", str(folder / "job.sh"), run.id], {})
    environ = {**os.environ, "GLUEPOT_STATE": str(folder / "state")}
    with service(ServeOptions(port=port), environ, FastClock(folder / "clock")) as serving:
        signal.signal(signal.SIGTERM, lambda *_: serving.stop())
        serving.ended.wait()


def main(folder, port):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets services that were killed
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(folder, port)
            os._exit(0)
        print(pid, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
