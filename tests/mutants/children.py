"""Runs a function in a copy of this process, so that what it changes is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
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
