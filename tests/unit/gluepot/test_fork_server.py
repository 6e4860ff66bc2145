from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from gluepot.spark import fork_client
from gluepot.spark.fork_server import FORKED, is_possible, program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="planners are forked on Linux only")

# Holds the server until its standard input is closed; then it ends as a driver does.
DRIVER = """
import sys
from pathlib import Path
from gluepot.spark.fork_server import serving
import colorsys
sys.stdout.write("not flushed yet ")
with serving(Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""

# What a module finds of its surroundings; `colorsys` is one that only the driver has loaded.
ASKS = """
import atexit, os, sys
atexit.register(print, "and its own end")
print(os.environ.get("FRUIT"), os.environ.get("OF_DRIVER"), os.getcwd(), sys.argv[1:], "colorsys" in sys.modules)
print(sorted(os.listdir("/proc/self/fd"))[:3], sys.stdin.read(), __name__, __spec__.name)
print("to standard error", file=sys.stderr)
sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / ("long-" * 30) / "private"
    folder.mkdir(parents=True)
    (folder / "asks.py").write_text(ASKS)
    (folder / "fails.py").write_text("raise ValueError('as Python tells it')")
    (folder / "stays.py").write_text("print('stays', flush=True); import sys; sys.stdin.read()")
    return folder


@pytest.fixture
def driver(folder):
    environ = {**os.environ, "OF_DRIVER": "yes"}
    command = [sys.executable, "-c", DRIVER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"not flushed yet ready\n"
        yield started
        started.kill()


def client(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", fork_client.__file__, str(folder / "forks"), *arguments]


def given(folder: Path, **environ: str) -> dict[str, str]:
    return {"PYTHONPATH": str(folder), **environ}


def test_a_fork_has_all_that_a_new_process_would_have_and_what_the_driver_has_loaded(driver, folder):
    ran = subprocess.run(
        client(folder, "-m", "asks", "one", "two"),
        input="as given",
        capture_output=True,
        text=True,
        env=given(folder, FRUIT="pear"),
        cwd=folder.parent,
        check=False,
    )
    assert ran.stdout.splitlines() == [
        f"pear None {folder.parent} ['one', 'two'] True",
        "['0', '1', '2'] as given __main__ asks",
        "and its own end",
    ]
    assert (ran.stderr, ran.returncode) == ("to standard error\n", 7)


def test_without_a_server_it_is_a_usual_python(folder):
    ran = subprocess.run(
        client(folder, "-m", "asks"), input="", capture_output=True, text=True, env=given(folder), check=False
    )
    assert (ran.stdout.splitlines()[0], ran.returncode) == (f"None None {Path.cwd()} [] False", 7)


def test_an_exception_is_told_and_ends_with_1(driver, folder):
    ran = subprocess.run(client(folder, "-m", "fails"), capture_output=True, text=True, env=given(folder), check=False)
    assert ran.returncode == 1
    assert ran.stderr.endswith("ValueError: as Python tells it\n")


def test_two_forks_live_side_by_side_and_one_that_is_killed_has_the_exit_code_of_a_signal(driver, folder):
    one, other = (
        subprocess.Popen(
            client(folder, "-m", "stays"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given(folder)
        )
        for _ in range(2)
    )
    with one, other:
        assert [each.stdout.readline() for each in (one, other)] == [b"stays\n"] * 2
        server = psutil.Process(driver.pid).children()[0]
        server.children()[0].kill()
        for each in (one, other):
            each.stdin.close()
        assert sorted([one.wait(10), other.wait(10)]) == [0, 128 + signal.SIGKILL]


@pytest.mark.parametrize("end", [lambda driver: driver.stdin.close(), lambda driver: driver.kill()])
def test_the_server_ends_with_the_driver_and_what_runs_ends_by_itself(driver, folder, end):
    with subprocess.Popen(
        client(folder, "-m", "stays"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given(folder)
    ) as running:
        assert running.stdout.readline() == b"stays\n"
        server = psutil.Process(driver.pid).children()[0]
        (fork,) = server.children()
        end(driver)
        assert driver.wait(10) is not None
        server.wait(10)
        assert fork.is_running()
        running.stdin.close()
        fork.wait(10)
        assert running.wait(10) == 1  # nobody could tell it how its fork ended


def test_signals_to_all_processes_are_left_to_the_driver(driver, folder):
    with subprocess.Popen(
        client(folder, "-m", "stays"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=given(folder),
    ) as running:
        assert running.stdout.readline() == b"stays\n"
        server = psutil.Process(driver.pid).children()[0]
        for one in (server, *server.children()):
            one.send_signal(signal.SIGTERM)
            one.send_signal(signal.SIGINT)
        assert running.communicate() == (b"", None)
        assert running.returncode == 0


def test_the_program_stands_for_python_but_for_planners(driver, folder):
    path = program(folder)
    ran = subprocess.run([path, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == sys.executable
    # Spark's planner connects to nobody here, and says so; that it was forked shows in what it has loaded.
    planner = subprocess.run([path, "-m", FORKED], capture_output=True, text=True, check=False, env=given(folder))
    assert planner.returncode == 1
    assert "runpy" in planner.stderr
    assert "fork_server.py" in planner.stderr


@pytest.mark.parametrize(
    ("master", "environ", "platform", "possible"),
    [
        ("local[2]", {}, "linux", True),
        ("spark://there:7077", {}, "linux", False),
        ("local[*]", {"PYSPARK_PYTHON": "/own/python"}, "linux", False),
        ("local[*]", {"PYSPARK_PYTHON": sys.executable}, "linux", True),
        ("local[*]", {}, "darwin", False),
    ],
)
def test_planners_are_forked_where_spark_is_on_this_machine_and_nobody_has_chosen_another_python(
    master, environ, platform, possible
):
    assert is_possible(master, environ, platform) is possible


def test_beside_other_threads_nothing_is_forked(folder):
    driver = DRIVER.replace("import colorsys", "import threading; threading.Thread(target=sys.stdin.read).start()")
    with subprocess.Popen(
        [sys.executable, "-c", driver, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        assert started.stdout.readline() == b"not flushed yet ready\n"
        assert psutil.Process(started.pid).children() == []
        started.stdin.close()
