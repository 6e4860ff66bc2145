"""Runs a function in a copy of this process, so that what it changes is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any


def in_copy(work: Callable[[], Any], *, most_secs: float) -> Any:
    """Return what a function returns in a copy of this process, as JSON can hold it; None if it takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        signal.alarm(round(most_secs) + 10)  # it ends by itself if nobody is there any more to end it
        try:
            answer = json.dumps(work())
        except BaseException:  # noqa: BLE001 - it is said, and the copy must not go on as if it were the original
            answer = json.dumps({"error": traceback.format_exc()[-2000:]})
        with os.fdopen(writer, "w") as out:
            out.write(answer)
        os._exit(0)
    os.close(writer)
    answer, end = b"", time.monotonic() + most_secs
    while True:
        is_there, _, _ = select.select([reader], [], [], max(0, end - time.monotonic()))
        read = os.read(reader, 1 << 16) if is_there else b""
        answer += read
        if not read:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    if not is_there:
        return None
    return json.loads(answer) if answer else {"error": "the process ended without an answer"}


def in_copies(count: int, work: Callable[..., None], given: Sequence[Sequence[Any]]) -> None:
    """Call a function with each of many lists of arguments, in several copies of this process at the same time.

    Each copy takes the first list that no other has taken.

    Raises:
        RuntimeError: one of the copies did not come to its end.
    """
    reader, writer = os.pipe()
    copies = []
    for _ in range(count):
        if (copy := os.fork()) == 0:
            os.close(writer)
            try:
                while taken := os.read(reader, 4):
                    work(*given[int.from_bytes(taken, "big")])
            except BaseException:  # noqa: BLE001 - it is said, and the copy must not go on as if it were the original
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        copies.append(copy)
    os.close(reader)
    with contextlib.suppress(BrokenPipeError), os.fdopen(writer, "wb", buffering=0) as out:
        for n in range(len(given)):
            out.write(n.to_bytes(4, "big"))
    if any(os.waitpid(copy, 0)[1] for copy in copies):
        raise RuntimeError("a copy of this process did not come to its end")
