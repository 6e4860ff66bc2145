"""Fuzzes one target in this process, with limits; `python -m tests.fuzz` starts it.

    python -m tests.fuzz.child TARGET FOLDER SECS SEED

Coverage of our Python code leads the fuzzer (atheris, that is libFuzzer). An input that breaks a rule is kept, and the
run goes on; one that ends the process, or exceeds a limit of libFuzzer, is left in the folder by libFuzzer.
"""

from __future__ import annotations

import base64
import json
import resource
import sys
import time
import traceback
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["gluepot"], enable_loader_override=False):
    from tests.fuzz.targets import TARGETS, Target

# The longest input that the fuzzer makes.
MOST_BYTES = 4_096
# The address space also holds libraries and threads' stacks, so it is larger than the memory that libFuzzer allows.
MOST_ADDRESSES_BYTES = 6 << 30
MOST_MEMORY_MIB = 1_024
# An input of 4 KiB that takes more memory than this breaks a rule.
MOST_GROWTH_KIB = 256 << 10
# Our code takes a few times as long when its coverage is measured.
MOST_CPU_SECS = 5.0
MOST_WALL_SECS = 60


class Run:
    """Counts inputs, and keeps the first input of each failure."""

    def __init__(self, target: Target, folder: Path) -> None:
        self._target = target
        self._folder = folder
        self._inputs = 0
        self._slowest_secs = 0.0
        self._failures: dict[str, dict[str, str]] = {}
        self._told = 0.0

    def one(self, data: bytes) -> None:
        """Try one input."""
        began, peak_kib = time.process_time(), _peak_kib()
        try:
            self._target.check(data)
        except Exception as wrong:  # noqa: BLE001  whatever it raises is what we look for
            self._keep(_signature(wrong), data, "".join(traceback.format_exception(wrong)[-6:]))
        took_secs = time.process_time() - began
        self._inputs += 1
        self._slowest_secs = max(self._slowest_secs, took_secs)
        if took_secs > MOST_CPU_SECS:
            self._keep("slow", data, f"{took_secs:.1f} s of processor time")
        if self._inputs > 1 and (grown := _peak_kib() - peak_kib) > MOST_GROWTH_KIB:
            self._keep("memory", data, f"{grown >> 10} MiB")
        if (now := time.monotonic()) > self._told + 1:
            self._told = now
            self.tell()

    def _keep(self, signature: str, data: bytes, what: str) -> None:
        known = self._failures.get(signature)
        if known is None or len(data) < len(base64.b64decode(known["input"])):
            self._failures[signature] = {"what": what, "input": base64.b64encode(data).decode()}
            self.tell()

    def tell(self) -> None:
        """Write what is known by now; the end of the process may come at any time."""
        told = {
            "inputs": self._inputs,
            "slowest_ms": round(1_000 * self._slowest_secs),
            "peak_mib": _peak_kib() >> 10,
            "failures": self._failures,
        }
        (self._folder / "run.json").write_text(json.dumps(told))


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _signature(wrong: Exception) -> str:
    """Return a text that failures of one cause share: the error and the innermost line of ours."""
    frames = traceback.extract_tb(wrong.__traceback__)
    ours = [one for one in frames if "/gluepot/" in one.filename or "/fuzz/" in one.filename] or frames
    return f"{type(wrong).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"


def main() -> None:
    name, folder, secs, seed = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES_BYTES, MOST_ADDRESSES_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    [target] = (one for one in TARGETS if one.name == name)
    corpus = Path(folder) / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    run = Run(target, Path(folder))
    for number, data in enumerate(target.inputs):
        (corpus / f"seed{number}").write_bytes(data)
    options = {
        "max_total_time": secs,
        "seed": seed,
        "max_len": MOST_BYTES,
        "rss_limit_mb": MOST_MEMORY_MIB,
        "timeout": MOST_WALL_SECS,
        "artifact_prefix": f"{folder}/",
        "print_final_stats": 1,
    }
    atheris.Setup([sys.argv[0], *(f"-{key}={value}" for key, value in options.items()), str(corpus)], run.one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
