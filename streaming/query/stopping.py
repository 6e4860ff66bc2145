"""Handles signals: the first one ends a stream between two batches, the second one ends it at once.

A job in which no stream runs ends at the first signal, as if it had been killed: it has nothing to finish. Its next run
does the work of this one.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

from gluepot.core.logging import get_logger
from gluepot.core.signals import without
from gluepot.streaming.query.session import StreamSession

STOPPING = (signal.SIGTERM, signal.SIGINT)

log = get_logger(__name__)


@contextmanager
def stop_on_signals(session: StreamSession) -> Iterator[None]:
    """Let SIGTERM and SIGINT end the session's queries while this is open; this has an effect in the main thread only.

    A SparkContext that is made meanwhile does not get its own SIGINT handler, which cancels the running jobs and raises
    KeyboardInterrupt in the middle of a call into the JVM.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if session.stop.is_set() or not session.running:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        log.info("stopping", after="the running batch", again="ends at once")
        session.stop.set()

    before = {number: signal.signal(number, ask) for number in STOPPING}
    context: Any = import_module("pyspark.core.context")
    context.signal = without(signal.SIGINT)
    try:
        yield
    finally:
        context.signal = signal
        for number, handler in before.items():
            signal.signal(number, handler)
