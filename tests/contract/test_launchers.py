"""The launchers: each starts the driver of a run once, finds it again, tells how it ended, stops it and kills it."""

import os
import signal
import socket
import time
from functools import partial

import pytest

from gluepot.service.decisions.log_streams import ERROR, OUTPUT
from gluepot.service.decisions.states import Ended, Run, State
from gluepot.service.launch.drivers import Drivers
from gluepot.service.launch.launcher import Alive, Launcher, Unknown

SECS = 60
RUN_ID = "jr_1"


@pytest.fixture
def master():
    """The URL of something that answers as a master does, for scripts that need no executors."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"spark://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(params=["process", "spark-submit"])
def new_launcher(request, tmp_path, master):
    """Return a function that returns the launcher of another service on the same folder."""
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path / "state")}
    return partial(Drivers, tmp_path / "runs", environ, {"process": None, "spark-submit": master}[request.param])


@pytest.fixture
def run(tmp_path):
    """Write a script; return a run of it."""

    def write(*lines):
        script = tmp_path / "job.py"
        script.write_text("\n".join(lines) + "\n")
        definition = {"GlueVersion": "5.0", "Command": {"Name": "glueetl", "ScriptLocation": str(script)}}
        return Run(1, RUN_ID, "daily", State.STARTING, definition, {"--day": "friday"})

    return write


def wait_until(holds):
    until = time.monotonic() + SECS
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def awaited(launcher):
    wait_until(lambda: isinstance(launcher.look(RUN_ID, 7), Ended))
    return launcher.look(RUN_ID, 7)


def test_a_driver_gets_its_arguments_and_leaves_its_end_and_its_logs(new_launcher, run):
    launcher: Launcher = new_launcher()
    assert launcher.look(RUN_ID, 7) == Unknown()
    launcher.launch(
        run("import sys", "print(sys.argv[sys.argv.index('--day') + 1])", "raise ValueError('no such day')")
    )
    end = awaited(launcher)
    assert (end.exit_code, end.error) == (1, "ValueError: no such day")
    assert (launcher.folder(RUN_ID) / OUTPUT).read_text() == "friday\n"
    assert "ValueError" in (launcher.folder(RUN_ID) / ERROR).read_text()
    assert new_launcher().look(RUN_ID, 7) == end
    wait_until(lambda: launcher.alive() == [])


def test_a_driver_begins_once_and_another_launcher_finds_and_stops_it(new_launcher, run, tmp_path):
    begun, ready = tmp_path / "begun", tmp_path / "ready"
    waiting = run(
        "import pathlib, signal, sys, time",
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))",
        # What a signal raises while a file is closed for want of references is lost.
        f"with open({str(begun)!r}, 'a') as file: file.write('x')",
        f"pathlib.Path({str(ready)!r}).touch()",
        "time.sleep(60)",
    )
    launchers = [new_launcher() for _ in range(3)]
    for one in launchers:
        one.launch(waiting)
    wait_until(ready.exists)
    other = new_launcher()
    assert isinstance(other.look(RUN_ID, 7), Alive)
    assert other.alive() == [RUN_ID]
    other.stop(RUN_ID)
    assert awaited(other).exit_code == 9
    new_launcher().launch(waiting)
    assert [awaited(one).exit_code for one in launchers] == [9, 9, 9]
    assert begun.read_text() == "x"


def test_a_driver_that_does_not_listen_is_killed(new_launcher, run, tmp_path):
    ready = tmp_path / "ready"
    ignoring = ("import signal, time", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", f"open({str(ready)!r}, 'w')")
    launcher: Launcher = new_launcher()
    launcher.launch(run(*ignoring, "time.sleep(60)"))
    wait_until(ready.exists)
    launcher.stop(RUN_ID)
    time.sleep(0.2)
    assert isinstance(launcher.look(RUN_ID, 7), Alive)
    launcher.kill(RUN_ID)
    assert awaited(launcher).exit_code == -signal.SIGKILL
    wait_until(lambda: launcher.alive() == [])


def test_a_script_that_is_not_there_is_told_at_once(new_launcher, run, tmp_path):
    made = run()
    (tmp_path / "job.py").unlink()
    with pytest.raises(FileNotFoundError):
        new_launcher().launch(made)


@pytest.mark.parametrize(
    ("environ", "cause"),
    [
        ({"SPARK_HOME": "/nowhere"}, "/nowhere/bin/spark-submit cannot be started: No such file or directory."),
        ({}, "Spark's master spark://127.0.0.1:1 does not answer: [Errno 111] Connection refused."),
    ],
)
def test_a_driver_that_cannot_start_tells_why(run, tmp_path, environ, cause):
    launcher = Drivers(tmp_path / "runs", {**os.environ, **environ}, "spark://127.0.0.1:1")
    launcher.launch(run("import pyspark", "print('begun')"))
    end = awaited(launcher)
    assert end.exit_code not in {0, None}
    assert end.error.startswith(cause)
    assert (launcher.folder(RUN_ID) / OUTPUT).read_text() == ""
