"""Named places where a test makes the process die, freeze or fail; inert unless the environment names one.

    GLUEPOT_FAILPOINT=publish.moved          what to reach; `publish.moved@3` acts on the third time
    GLUEPOT_FAILPOINT_ACTION=kill            kill (default: SIGKILL to the whole process group), stop (SIGSTOP to this
                                             process alone) or raise (an OSError, as a failing disk gives)
    GLUEPOT_FAILPOINT_LOG=/tmp/fired         a line with the name is appended, flushed to disk, before the action

The idea is FoundationDB's Buggify: rare moments become common ones, and the log shows which ones a run never reached.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from threading import get_ident

_reached: Counter[str] = Counter()


def reach(name: str) -> None:
    """Act if the environment names this place, and this is the right visit to it.

    Args:
        name: `<part>.<last action>`, such as `publish.moved`.

    Raises:
        OSError: the action is `raise`.
    """
    wanted = os.environ.get("GLUEPOT_FAILPOINT")
    if not wanted:
        return
    place, _, nth = wanted.partition("@")
    if place != name:
        return
    _reached[name] += 1
    if _reached[name] != int(nth or 1):
        return
    _note(name)
    match os.environ.get("GLUEPOT_FAILPOINT_ACTION", "kill"):
        case "stop":
            # A signal to the process may go to another thread, and this one would run on until that thread gets a
            # processor. A thread that sends the signal to itself stops here.
            signal.pthread_kill(get_ident(), signal.SIGSTOP)
        case "raise":
            raise OSError(f"failpoint {name}")
        case _:
            os.killpg(os.getpgid(0), signal.SIGKILL)


def _note(name: str) -> None:
    path = os.environ.get("GLUEPOT_FAILPOINT_LOG")
    if path is None:
        return
    with open(path, "a", encoding="utf-8") as log:  # noqa: PTH123  this module imports as little as possible
        log.write(f"{name}\n")
        log.flush()
        os.fsync(log.fileno())
