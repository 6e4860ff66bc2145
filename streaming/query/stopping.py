"""Handles signals: the first one ends the job between two batches, the second one ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gluepot.core.logging import get_logger
from gluepot.streaming.query.session import StreamSession

STOPPING = (signal.SIGTERM, signal.SIGINT)

log = get_logger(__name__)


@contextmanager
def stop_on_signals(session: StreamSession) -> Iterator[None]:
    """Let SIGTERM and SIGINT end the session's queries while this is open; this has an effect in the main thread only.

    Each SparkContext sets a SIGINT handler that cancels the running jobs. That handler is restored afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if session.stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        log.info("stopping", after="the running batch", again="ends at once")
        session.stop.set()

    before = {number: signal.signal(number, ask) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
