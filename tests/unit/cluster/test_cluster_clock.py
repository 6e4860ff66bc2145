"""The library by which a driver of the cluster has another time of day."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time

import pytest

from tests.cluster.nodes import clock_library, has_compiler

pytestmark = pytest.mark.skipif(not has_compiler(), reason="setting clocks needs a C compiler")
DAY_SECS, SLACK_SECS = 86_400, 3_600

CHILD = """
import sys, threading, time
for line in sys.stdin:
    threading.Event().wait(0.01)
    print(time.time(), flush=True)
"""


def test_a_clock_that_is_set_shows_the_new_time_to_a_process_that_runs_already(tmp_path):
    library, clock = clock_library(tmp_path), tmp_path / "clock"
    clock.write_bytes(struct.pack("=q", DAY_SECS))
    env = {**os.environ, "LD_PRELOAD": str(library), "CLUSTER_CLOCK": str(clock)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CHILD], env=env, stdin=pipe, stdout=pipe, text=True) as child:
        for ahead_secs in (DAY_SECS, -DAY_SECS, 0):
            with clock.open("r+b") as file:
                file.write(struct.pack("=q", ahead_secs))
            child.stdin.write("\n")
            child.stdin.flush()
            assert abs(float(child.stdout.readline()) - time.time() - ahead_secs) < SLACK_SECS
        child.stdin.close()
