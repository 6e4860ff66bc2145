"""Runs tests on wrong versions, in copies of a process that has loaded and collected everything once."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.children import in_copies, in_copy
from tests.mutants.operators import Mutant, mutated, noticing
from tests.mutants.targets import ROOT, TARGETS, loaded, put

_ALL_SECS = 1500
"""More than all tests need, once, on a machine that does other things as well."""


class UnitLane:
    """A plugin of pytest that judges wrong versions in place of running the tests.

    Args:
        drawn: the wrong versions.
        most_secs: for how long tests run on one of them, at most, by the machine's clock.
        verdicts: where to put a line for each of them.
        at_once: how many are judged at the same time.
    """

    def __init__(self, drawn: Sequence[Mutant], most_secs: float, verdicts: Path, at_once: int) -> None:
        self._drawn, self._most_secs, self._verdicts, self._at_once = drawn, most_secs, verdicts, at_once
        self._failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = {path: loaded(path) for path in TARGETS}
        measured = in_copy(lambda: self._measure(session.items, functions), most_secs=_ALL_SECS)
        if measured is None or "error" in measured:
            raise RuntimeError(f"the tests could not be run on the right version: {measured}")
        print(f"tests that are left out, because they fail on the right version: {measured['left_out']}", flush=True)
        calls: dict[str, dict[str, Any]] = measured["tests"]

        def judge(number: int, mutant: Mutant) -> None:
            began = time.monotonic()
            name = f"{mutant.path}::{mutant.function}"
            covering = [item for item in session.items if name in calls[item.nodeid]["calls"]]
            covering.sort(key=lambda item: calls[item.nodeid]["secs"])
            verdict = self._judge(mutant, covering, functions[mutant.path])
            verdict |= {"tests": len(covering), "secs": round(time.monotonic() - began, 1)}
            line = json.dumps({"number": number, **verdict}) + "\n"
            with self._verdicts.open("a") as lines:  # by one write, because others add lines at the same time
                lines.write(line)
            print(f"{mutant}: {verdict}", file=sys.stderr, flush=True)

        in_copies(self._at_once, judge, list(enumerate(self._drawn)))
        lines = sorted(map(json.loads, self._verdicts.read_text().splitlines()), key=lambda one: one["number"])
        self._verdicts.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return True

    def _run(self, items: Sequence[pytest.Item], end: float = float("inf")) -> dict[str, Any]:
        """Run tests until one fails or the time is up; each may take long, because the last one has to end."""
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
        for n, item in enumerate(items):
            if time.monotonic() > end:
                return {"by": None, "ran": n}
            # Without a next one, all fixtures end with each test; there are few that live longer.
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self._failed:
                return {"by": self._failed, "ran": n + 1}
        return {"by": None, "ran": len(items)}

    def _judge(self, mutant: Mutant, items: Sequence[pytest.Item], functions: dict[str, list[Any]]) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            source = (ROOT / mutant.path).read_text()
            place = functions[mutant.function]
            put(place, mutated(mutant, source, place[0].__code__.co_filename))
            return self._run(items, time.monotonic() + self._most_secs)

        answer = in_copy(work, most_secs=self._most_secs + 90) if items else {"by": None, "ran": 0}
        return answer or {"by": "a test does not end", "ran": 0}

    def _measure(self, items: Sequence[pytest.Item], functions: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
        """Return the functions that each test calls, and how long it takes."""
        called: set[str] = set()
        for path, of_file in functions.items():
            for name, code in noticing((ROOT / path).read_text(), "", "__called__").items():
                if name not in of_file:
                    continue
                place = of_file[name]
                place[0].__globals__["__called__"] = lambda name, path=path: called.add(f"{path}::{name}")
                put(place, code.replace(co_filename=place[0].__code__.co_filename))
        found: dict[str, Any] = {}
        left_out: list[str] = []
        for item in items:
            called.clear()
            began = time.process_time()
            self._run([item])
            if self._failed:  # it does not take the changes of `noticing`, or nobody's
                self._failed = None
                called.clear()
                left_out.append(item.nodeid)
            found[item.nodeid] = {"calls": sorted(called), "secs": round(time.process_time() - began, 3)}
        return {"tests": found, "left_out": left_out}


def run(drawn: Sequence[Mutant], tests: Sequence[str], most_secs: float, verdicts: Path, at_once: int) -> None:
    """Judge wrong versions with the tests."""
    folder = ROOT / "build" / "mutants-files"
    try:
        status = pytest.main(
            [
                *tests,
                "-q",
                "-m",
                "not long",
                "-k",
                "not postgresql",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                "--basetemp",
                str(folder),
            ],
            plugins=[UnitLane(drawn, most_secs, verdicts, at_once)],
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise RuntimeError(f"pytest ended with {status!r}")
