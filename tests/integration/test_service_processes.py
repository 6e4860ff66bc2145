"""The processes of runs: each begins once, is found again by another service, and leaves word of its end."""

import json
import os
import signal
import sys
import time

import pytest

from gluepot.service.decisions.states import Ended
from gluepot.service.launch.launcher import Alive, Starting, Unknown
from gluepot.service.launch.processes import Processes
from gluepot.service.launch.runner import ANOTHER

SECS = 20
PYTHON = [sys.executable, "-c"]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "runs"


def start(processes, code, run_id="jr_1"):
    processes.start(run_id, [*PYTHON, code], {"job.py": b"pass"}, dict(os.environ))


def wait_until(holds):
    until = time.monotonic() + SECS
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def awaited(processes, kind, run_id="jr_1"):
    until = time.monotonic() + SECS
    while not isinstance(found := processes.look(run_id, 7), kind):
        assert time.monotonic() < until, found
        time.sleep(0.02)
    return found


def test_a_process_runs_in_its_own_folder_and_leaves_its_exit_code_and_logs(root):
    processes = Processes(root)
    assert processes.look("jr_1", 7) == Unknown()
    start(processes, "import os, sys; print(os.listdir()); print('error: E: no', file=sys.stderr); sys.exit(3)")
    assert isinstance(processes.look("jr_1", 7), (Starting, Alive, Ended))
    end = awaited(processes, Ended)
    assert (end.exit_code, end.error) == (3, "E: no")
    assert (root / "jr_1" / "output.log").read_text() == "['job.py']\n"
    assert Processes(root).look("jr_1", 7) == end


def test_however_often_it_is_started_a_process_begins_once(root, tmp_path):
    code = f"open({str(tmp_path / 'begun')!r}, 'a').write('x'); import time; time.sleep(1)"
    services = [Processes(root) for _ in range(4)]
    for one in services:
        start(one, code)
    for one in services:
        assert awaited(one, Ended).exit_code == 0
    start(Processes(root), code)
    time.sleep(0.5)
    assert (tmp_path / "begun").read_text() == "x"


def test_another_service_finds_and_stops_it(root):
    start(Processes(root), "import time; time.sleep(60)")
    other = Processes(root)
    awaited(other, Alive)
    time.sleep(0.1)
    other.stop("jr_1")
    assert awaited(other, Ended).exit_code == -signal.SIGTERM


def test_a_forbidden_process_never_begins(root, tmp_path):
    processes = Processes(root)
    assert processes.forbid("jr_1")
    start(processes, f"open({str(tmp_path / 'begun')!r}, 'w').close()")
    wait_until(lambda: processes._started["jr_1"].poll() == ANOTHER)
    assert processes.look("jr_1", 7) == Ended(7, None)
    assert not processes.forbid("jr_1")
    assert not (tmp_path / "begun").exists()


def test_a_process_that_has_begun_cannot_be_forbidden(root):
    processes = Processes(root)
    start(processes, "import time; time.sleep(60)")
    awaited(processes, Alive)
    assert not processes.forbid("jr_1")

    def is_killed():  # again and again, as the service does: at first the process of the job may not be there yet
        processes.kill("jr_1")
        return isinstance(processes.look("jr_1", 7), Ended)

    wait_until(is_killed)


def test_one_whose_folder_cannot_be_written_is_not_forbidden(root):
    root.parent.mkdir(exist_ok=True)
    root.touch()
    assert not Processes(root).forbid("jr_1")


def test_a_process_is_asked_to_stop_once(root, tmp_path):
    code = (
        "import signal, sys, time; told = [];"
        " signal.signal(signal.SIGTERM, lambda *_: told.append(1));"
        f" open({str(tmp_path / 'ready')!r}, 'w').close(); time.sleep(1.5); sys.exit(len(told))"
    )
    processes = Processes(root)
    start(processes, code)
    wait_until((tmp_path / "ready").exists)
    for one in (processes, processes, Processes(root)):
        one.stop("jr_1")
        time.sleep(0.1)
    assert awaited(processes, Ended).exit_code == 1


def test_one_that_does_not_listen_is_killed_with_all_that_it_started(root, tmp_path):
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        " child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        f" open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )
    processes = Processes(root)
    start(processes, code)
    wait_until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text())
    processes.stop("jr_1")
    time.sleep(0.3)
    assert isinstance(processes.look("jr_1", 7), Alive)
    processes.kill("jr_1")
    assert awaited(processes, Ended).exit_code == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        _await_gone(int((tmp_path / "child").read_text()))


def _await_gone(pid):
    for _ in range(SECS * 50):
        os.kill(pid, 0)
        time.sleep(0.02)


def test_a_run_whose_guard_was_killed_is_alive_until_its_process_ends(root, tmp_path):
    code = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.02)"
    processes = Processes(root)
    start(processes, code)
    awaited(processes, Alive)
    wait_until((root / "jr_1" / "child.json").exists)
    os.kill(json.loads((root / "jr_1" / "begun.json").read_text())["pid"], signal.SIGKILL)
    other = Processes(root)
    time.sleep(0.2)
    assert isinstance(other.look("jr_1", 7), Alive)
    (tmp_path / "go").touch()
    assert awaited(other, Ended) == Ended(7, None)


def test_a_process_that_cannot_be_made_says_why(root):
    processes = Processes(root)
    processes.start("jr_1", ["/nowhere/python"], {}, dict(os.environ))
    end = awaited(processes, Ended)
    assert end.exit_code == 127
    assert "/nowhere/python" in end.error
