"""What a named place does to the process that reaches it."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil

from gluepot.core.clock import SystemClock

# The thread that reaches the place is not the main one, as in a driver, where Spark calls the batch function.
PROGRAM = """
import os, threading
from gluepot.core.failpoints import reach

def work():
    reach("here")
    os.write(1, b"went on")

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_a_thread_that_reaches_the_place_of_a_stop_goes_no_further():
    env = {**os.environ, "GLUEPOT_FAILPOINT": "here", "GLUEPOT_FAILPOINT_ACTION": "stop"}
    clock = SystemClock()
    with subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            deadline = clock.monotonic() + 60
            while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
                assert clock.monotonic() < deadline
                clock.sleep(0.01)
            os.set_blocking(process.stdout.fileno(), False)
            assert process.stdout.read() is None
        finally:
            process.kill()
