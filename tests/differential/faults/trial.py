"""Runs the differential tester on wrong versions, in a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from tests.differential.faults.lane import END
from tests.differential.faults.listed import ROOT, Fault

_COPIED = ("awsglue", "awsgluedq", "awsglueml", "connectors", "deploy", "gluepot", "streaming", "studio", "tests")
_COMPILER = ("-O2", "-std=c11", "-shared", "-fPIC")
# Kinds whose rounds all need Spark; it is started once for them.
_WITH_SPARK = ("casts", "predicates", "sql")
# Those of the tests: optimised code takes more time to make than such small data save.
_JAVA_OPTIONS = "-XX:+TieredCompilation -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_POLL_SECS = 0.2
_LAST = 100  # characters in which the end of a run is looked for
_NICE = "10"
# A round of the right version takes less; the limit only ends one that hangs.
_MOST_SECS_OF_ROUND = 300
# Seconds on the clock for each second of processor time, on a machine with other work.
_MOST_WAIT = 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault.

    Args:
        by: "difference", or "error" if the fault makes the tester itself fail; empty if nothing noticed it.
        seed: of the round that noticed it.
        secs: processor time of the runs with the fault, with all processes that they started.
        shown: the beginning of the difference or the error.
    """

    by: str
    seed: int | None
    secs: float
    shown: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the tester.

    Args:
        code: its exit code; None if its time was up.
        output: what it printed.
        secs: its processor time.
    """

    code: int | None
    output: str
    secs: float

    def noticed(self, kind: str) -> tuple[str, int] | None:
        """Return by what the run noticed a fault, and the seed; None if it did not."""
        for line in self.output.splitlines():
            if found := re.fullmatch(rf"{kind} seed (\d+)( failed)?", line):
                return "error" if found[2] else "difference", int(found[1])
        return None


class Trials:
    """A copy of the tree, in which one fault after the other is tried.

    Args:
        folder: an empty folder for the copy.
    """

    def __init__(self, folder: Path) -> None:
        self._tree = folder
        self._kept = folder / "kept"
        self._kept.mkdir()
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, symlinks=True)
        self.differs_anyway = cache(self._differs_anyway)
        self._open = ExitStack()
        self._lane: tuple[subprocess.Popen[str], Callable[[int], str]] | None = None

    def close(self) -> None:
        """End Spark."""
        self._open.close()

    def verdict(self, fault: Fault, first_seed: int, most_secs: float) -> Verdict:
        """Run the tester on a wrong version until it notices the fault or has had so much processor time.

        A round in which the right version differs, too, does not count, and the run goes on after it.
        """
        seed, secs = first_seed, 0.0
        while secs < most_secs:
            with self._wrong(fault):
                run = self._run(fault.kind, seed, most_secs - secs)
            secs += run.secs
            seen = run.noticed(fault.kind)
            if seen is None:
                if run.code is None:
                    break
                raise RuntimeError(f"The tester ended with {run.code} on '{fault.name}':\n{run.output[-2000:]}")
            by, seed = seen
            if not self.differs_anyway(fault.kind, seed):
                return Verdict(by, seed, round(secs, 1), _shown(run.output, by, fault.kind, seed))
            seed += 1
        return Verdict("", None, round(secs, 1), "")

    def _differs_anyway(self, kind: str, seed: int) -> bool:
        """Return whether a round of the right version has a difference that is not explained."""
        run = self._run(kind, seed, _MOST_SECS_OF_ROUND, "--rounds", "1")
        if run.code is None:
            raise RuntimeError(f"The round {seed} of {kind} takes the right version more than {_MOST_SECS_OF_ROUND} s.")
        seen = run.noticed(kind)
        if seen and seen[0] == "error":
            raise RuntimeError(f"The round {seed} of {kind} fails with the right version:\n{run.output[-2000:]}")
        return seen is not None

    @contextmanager
    def _wrong(self, fault: Fault) -> Iterator[None]:
        path = self._tree / fault.file
        right = path.read_text()
        path.write_text(fault.applied(right))
        try:
            _compile(path)
            yield
        finally:
            path.write_text(right)
            _compile(path)

    def _run(self, kind: str, seed: int, most_secs: float, *more: str) -> Run:
        arguments = ["--first", "--kind", kind, "--seed", str(seed), "--secs", str(_MOST_WAIT * most_secs), *more]
        if kind not in _WITH_SPARK:
            with self._started("tests.differential", *arguments) as (process, output):
                secs = _watched(process, most_secs, lambda: process.poll() is not None)
                code = process.poll()
                return Run(code, output(0), secs)
        if self._lane is None:
            self._lane = self._open.enter_context(self._started("tests.differential.faults.lane"))
        process, output = self._lane
        arguments += ["--kept", str(self._kept)]
        at = len(output(0))
        assert process.stdin is not None
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        secs = _watched(process, most_secs, lambda: END in output(at)[-_LAST:] or process.poll() is not None)
        text, _, end = output(at).partition(END)
        code = int(end) if end else process.poll()
        if not end:
            self._open.close()
            self._lane = None
        return Run(code, text, secs)

    @contextmanager
    def _started(self, module: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[int], str]]]:
        """Start a module in the copy; give its process and what returns its output from some character on."""
        with tempfile.TemporaryDirectory() as folder, Path(folder, "output").open("w+") as log:
            process = subprocess.Popen(
                ["nice", "-n", _NICE, sys.executable, "-u", "-m", module, *arguments],
                cwd=self._tree,
                env={"SPARK_SUBMIT_OPTS": _JAVA_OPTIONS, **os.environ, "PYTHONPATH": str(self._tree)},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                yield process, lambda at: Path(log.name).read_text(errors="replace")[at:]
            finally:
                known = _tree(process)
                process.kill()
                process.wait()
                for one in known:
                    with suppress(psutil.NoSuchProcess):
                        one.kill()  # the JVM; a process with its number that began later stays


def _compile(path: Path) -> None:
    """Build the kernel of a C file beside it."""
    if path.suffix == ".c":
        files = [f"-I{sysconfig.get_path('include')}", str(path), "-o", str(path.with_name(f"_{path.stem}.abi3.so"))]
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), *_COMPILER, *files], check=True)


def _tree(process: subprocess.Popen[str]) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(process.pid)
        return [root, *root.children(recursive=True)]
    return []


def _used_secs(process: subprocess.Popen[str]) -> float:
    """Return the processor time of a process and of all that it started."""
    secs = 0.0
    for one in _tree(process):
        with suppress(psutil.NoSuchProcess):
            secs += sum(one.cpu_times()[:4])  # its own, and that of its children that ended
    return secs


def _watched(process: subprocess.Popen[str], most_secs: float, is_over: Callable[[], bool]) -> float:
    """Wait until a run is over or has had so much processor time; return the time that it had."""
    before, secs, ends = _used_secs(process), 0.0, time.monotonic() + _MOST_WAIT * most_secs
    while not is_over() and secs <= most_secs and time.monotonic() < ends:
        time.sleep(_POLL_SECS)
        secs = max(secs, _used_secs(process) - before)
    return secs


def _shown(output: str, by: str, kind: str, seed: int) -> str:
    if by == "error":
        return output.strip().splitlines()[-1][:300]
    lines = output[output.index(f"{kind} seed {seed}\n") :].splitlines()
    return "\n".join(line.strip()[:300] for line in lines[1:4])
