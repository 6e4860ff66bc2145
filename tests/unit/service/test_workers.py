"""Threads of the service: a step that fails is followed by others, and all of them end when they are told to."""

import threading

from gluepot.core.clock import FakeClock
from gluepot.core.errors import TransientError
from gluepot.service.controllers.workers import Repeating, working

HOURS_SECS = 3600.0


class Script(Repeating):
    """Does what a list says, step by step."""

    def __init__(self, *acts):
        super().__init__(FakeClock(), 0.0, HOURS_SECS)
        self.acts = list(acts)
        self.away = 0
        self.begun, self.done = threading.Event(), threading.Event()

    def step(self):
        act = self.acts.pop(0)
        self.begun.set()
        if not self.acts:
            self.done.set()
        if isinstance(act, Exception):
            self.wake()  # the next step comes at once, not in hours
            raise act
        return act

    def database_was_away(self):
        self.away += 1


def test_a_step_that_fails_is_followed_by_others():
    script = Script(True, ValueError("bug"), TransientError("away", 1.0), True, False)
    with working({"script": script}):
        assert script.done.wait(30)
    assert script.away == 1


def test_one_that_waits_for_hours_is_woken_and_ends_at_once():
    script = Script(False, False)
    with working({"script": script}):
        assert script.begun.wait(30)
        script.wake()
        assert script.done.wait(30)
    assert not any(thread.name == "script" for thread in threading.enumerate())
