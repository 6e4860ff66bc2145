"""Runs one job as a child process and writes down how it ended. The service may die meanwhile; this process stays.

It is started by its path and imports nothing but the standard library, because it waits beside every run.

    python -I runner.py FOLDER

FOLDER has `request.json`, an object with `argv` and `folder`. These files tell the service what is going on:

    lock        locked while this process or its child lives
    begun.json  made before the child starts: a run that has it is never started again
    child.json  the child's process id
    ended.json  the child's exit code
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ANOTHER = 75
"""Exit code if another process runs or has run this job."""
NO_PROCESS = 127
"""Exit code that is written down if no process could be made, as shells have it."""


def main(folder: Path) -> int:
    """Run the job; return 0 once its end is written down."""
    with (folder / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return ANOTHER
        if (folder / "begun.json").exists():
            return ANOTHER
        request = json.loads((folder / "request.json").read_text())
        # Who stops the run signals its process. This one has to stay until it has written down the end.
        # A handler that does nothing, unlike SIG_IGN, is not inherited by the child.
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(one, lambda *_: None)
        write(folder / "begun.json", {"pid": os.getpid(), "at_ms": now_ms()})
        with (folder / "output.log").open("ab") as output, (folder / "error.log").open("ab") as error:
            try:
                child = subprocess.Popen(
                    request["argv"],
                    cwd=request["folder"],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=error,
                    pass_fds=[lock.fileno()],
                )
            except OSError as refused:
                error.write(f"error: {refused}\n".encode())
                code = NO_PROCESS
            else:
                write(folder / "child.json", {"pid": child.pid})
                code = child.wait()
        write(folder / "ended.json", {"exit_code": code, "at_ms": now_ms()})
    return 0


def forbid(folder: Path) -> bool:
    """Keep the job from beginning; return False if it has begun, or a process is about to begin it."""
    with (folder / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if (folder / "begun.json").exists():
            return False
        write(folder / "begun.json", {"at_ms": now_ms()})
    return True


def now_ms() -> int:
    """Return milliseconds since 1970."""
    return round(time.time() * 1000)  # noqa: TID251  this process imports nothing of ours


def write(path: Path, content: dict[str, int]) -> None:
    """Write a file as a whole, so that it survives a power cut."""
    temporary = path.with_suffix(".temporary")
    with temporary.open("w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
