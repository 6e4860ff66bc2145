from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gluepot.core.clock import SystemClock
from gluepot.servers.process import ProcessId, identify, is_alive, parse_proc_stat, terminate

FIELDS_AFTER_STATE = " ".join(str(number) for number in range(4, 30))


def test_start_time_is_found_behind_a_command_with_blanks_and_parentheses():
    assert parse_proc_stat(f"7 (a) S (b c) S {FIELDS_AFTER_STATE}") == "22"


def test_process_that_nobody_waited_for_has_ended():
    assert parse_proc_stat(f"7 (java) Z {FIELDS_AFTER_STATE}") is None


def test_this_process_is_alive():
    assert is_alive(identify(os.getpid()))


def test_reused_number_is_not_the_same_process():
    assert not is_alive(ProcessId(os.getpid(), "long ago"))


@pytest.mark.parametrize("disposition", ["SIG_DFL", "SIG_IGN"])
def test_terminate_ends_a_process_whether_it_listens_or_not(disposition):
    code = f"import signal, sys; signal.signal(signal.SIGTERM, signal.{disposition}); print(flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        process = identify(child.pid)
        terminate(process, 0.2, SystemClock())
        assert not is_alive(process)
