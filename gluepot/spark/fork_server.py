"""Lets the process that plans a stream begin as a fork of one that has loaded PySpark, and not as a new Python.

Spark starts a Python beside the driver for each start of a stream, which loads PySpark, NumPy and pyarrow: a second of
processor time that the driver has just spent on the same. So `gluepot run` forks a server off the driver when both are
loaded and the driver has no other thread yet, and tells Spark that Python is a small program: for a planner this
program asks the server for a fork (`fork_client`), for everything else it becomes Python.

The planner gets what a new process would get: environment, working folder, standard files, modules of its own
PYTHONPATH. It is a process of its own still, so what it does holds nobody else up, and the driver outlives it.
The server ends with the driver; planners end, as ever, when Spark closes their connection.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import runpy
import select
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from gluepot.core.python_modules.site_path import for_workers
from gluepot.spark import fork_client

FORKED = "pyspark.sql.streaming.python_streaming_source_runner"
"""The program of Spark's that plans a stream: its imports are those of the driver."""

SERVER_NAME, PLANNER_NAME = "gluepot-forks", "gluepot-planner"
"""The names that `ps -o comm` and `top` show; the command line is that of the driver."""

_SOCKET, _PROGRAM = "forks", "python"
_SET_NAME = 15  # prctl's PR_SET_NAME
_REQUEST_SECS = 5.0
_LEAVE_TO_DRIVER = (signal.SIGINT, signal.SIGTERM)


def is_possible(master: str, environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether planners can be forked: Spark's processes are on this machine, with the driver's own Python.

    Args:
        master: Spark's master.
        environ: the environment of the driver, before ours is added.
        platform: as `sys.platform`. Forks with threads of libraries are safe on Linux only.
    """
    is_own_python = environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable
    return platform == "linux" and master.startswith("local") and is_own_python


def program(folder: Path, python: str = sys.executable) -> Path:
    """Write the program that Spark takes for Python, and return its path.

    Args:
        folder: a folder that only this user may enter; the server's socket will be there.
        python: the Python that it stands for.
    """
    path = folder / _PROGRAM
    client = shlex.join([python, "-I", "-S", fork_client.__file__, str(folder / _SOCKET)])
    path.write_text(f'#!/bin/sh\n[ "$2" = {FORKED} ] && exec {client} "$@"\nexec {shlex.quote(python)} "$@"\n')
    path.chmod(0o700)
    return path


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """Fork the server off this process; it ends with the block or with this process.

    Call it when the modules that planners need are loaded. Nothing is forked if this process has other threads already:
    a fork has none of them, and would wait for ever for a lock that one of them holds. Planners start as usual then.

    Args:
        folder: that of `program`.
    """
    if threading.active_count() > 1:
        yield
        return
    listening = socket.socket(socket.AF_UNIX)
    opened = os.open(folder, os.O_RDONLY)
    try:
        listening.bind(f"/proc/self/fd/{opened}/{_SOCKET}")
    finally:
        os.close(opened)
    listening.listen()
    driver_ended, alive = os.pipe()
    _flush()
    gc.freeze()  # a collection would write to every page that both share
    server = os.fork()
    if server == 0:
        _serve(listening, driver_ended)
    handle = os.pidfd_open(server)
    gc.unfreeze()
    listening.close()
    os.close(driver_ended)
    try:
        yield
    finally:
        os.close(alive)
        # A script may have waited for it, and then its number may be that of another process.
        with suppress(ProcessLookupError, ChildProcessError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.waitpid(server, 0)
        os.close(handle)


def _serve(listening: socket.socket, driver_ended: int) -> NoReturn:
    """Fork for each client until the driver has ended. Never returns into the frames of the driver."""
    try:
        _name(SERVER_NAME)
        for number in _LEAVE_TO_DRIVER:
            signal.signal(number, signal.SIG_IGN)
        atexit._clear()  # noqa: SLF001  what the driver does at its end is not ours to do
        _close_all_but({0, 1, 2, listening.fileno(), driver_ended})
        _loop(listening, driver_ended)
    finally:
        os._exit(0)


def _loop(listening: socket.socket, driver_ended: int) -> None:
    clients: dict[int, tuple[int, socket.socket]] = {}  # by the descriptor of a fork: its number and its client
    while True:
        ready, _, _ = select.select([listening.fileno(), driver_ended, *clients], [], [])
        if driver_ended in ready:
            return
        for descriptor in clients.keys() & set(ready):
            pid, client = clients.pop(descriptor)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with suppress(OSError):
                client.sendall(bytes([code if code >= 0 else 128 - code]))
            client.close()
            os.close(descriptor)
        if listening.fileno() in ready:
            client, _ = listening.accept()
            try:
                request, files = _request(client)
            except (OSError, ValueError):
                client.close()  # it becomes a usual Python
                continue
            pid = os.fork()
            if pid == 0:
                _run(request, files, client)
            for file in files:
                os.close(file)
            clients[os.pidfd_open(pid)] = pid, client


def _request(client: socket.socket) -> tuple[Mapping[str, Any], list[int]]:
    client.settimeout(_REQUEST_SECS)
    length, files, _, _ = socket.recv_fds(client, 4, 3)
    with client.makefile("rb") as told:
        request: Mapping[str, Any] = json.loads(told.read(int.from_bytes(length, "big")))
    return request, files


def _run(request: Mapping[str, Any], files: list[int], client: socket.socket) -> NoReturn:
    """Become the process that the client asked for."""
    code = 1
    try:
        _name(PLANNER_NAME)
        for standard, file in enumerate(files):
            os.dup2(file, standard)
        _inherit(request)
        client.sendall(b"+")
        _close_all_but({0, 1, 2})
        module = request["arguments"][1]
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:  # noqa: BLE001  told as Python tells it
            sys.excepthook(*sys.exc_info())
        for thread in threading.enumerate():
            if not (thread.daemon or thread is threading.current_thread()):
                thread.join()
        atexit._run_exitfuncs()  # noqa: SLF001  those that the module has registered
        _flush()
    finally:
        os._exit(code & 0xFF)


def _inherit(request: Mapping[str, Any]) -> None:
    """Take over environment, working folder and search path."""
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    os.chdir(request["folder"])
    own = [request["folder"], *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.path[:] = dict.fromkeys([one for one in own if one] + sys.path)
    for_workers()
    sys.argv[:] = request["arguments"][1:]


def _flush() -> None:
    for output in (sys.stdout, sys.stderr):
        if output is not None:  # it was closed when this process began
            output.flush()


def _close_all_but(kept: set[int]) -> None:
    """Close what the driver has open: locks and connections would outlive it here."""
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:  # noqa: PTH208  names, not paths
        if descriptor not in kept:
            with suppress(OSError):
                os.close(descriptor)


def _name(name: str) -> None:
    """Set the name of this process, at most 15 bytes."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(_SET_NAME, name.encode(), 0, 0, 0)
