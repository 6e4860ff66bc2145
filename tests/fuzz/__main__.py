"""Fuzzes what parses foreign bytes, target by target, each in processes of its own with limits.

    python -m tests.fuzz --secs 600 --target json --seed 1 --report build/fuzz.json

The time is divided among the targets. A process that ends too early is a failure, and another one goes on.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom

from tests.crash.report import versions, write_into
from tests.fuzz.report import BEGIN, Outcome, as_json, as_markdown
from tests.fuzz.targets import CORPUS, TARGETS, Target

ROOT = Path(__file__).parents[2]
# A target whose processes end early as often as this is not tried any longer.
MOST_ENDS = 5
# How much longer than its time a process may take before it is killed: for its start and its last input.
GRACE_SECS = 120
# Interesting inputs of one target that are kept in the repository, the smallest ones first.
MOST_KEPT_BYTES = 8_000


def fuzzed(target: Target, folder: Path, secs: float, seed: int) -> Outcome:
    """Fuzz one target for so long."""
    began, ends, inputs, slowest_ms, peak_mib, covered = time.monotonic(), 0, 0, 0, 0, 0
    failures: dict[str, dict[str, str]] = {}
    while (left := secs - (time.monotonic() - began)) > 1 and ends < MOST_ENDS:
        told = folder / "run.json"
        told.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.child",
            target.name,
            str(folder),
            str(round(left)),
            str(seed + ends),
        ]
        with (folder / "log.txt").open("wb") as log:
            try:
                code = subprocess.run(
                    command, check=False, cwd=ROOT, stderr=log, stdout=log, timeout=left + GRACE_SECS
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
        found = json.loads(told.read_text()) if told.exists() else {}
        inputs += found.get("inputs", 0)
        slowest_ms = max(slowest_ms, found.get("slowest_ms", 0))
        peak_mib = max(peak_mib, found.get("peak_mib", 0))
        log_text = (folder / "log.txt").read_text(errors="replace")
        covered = max([covered, *map(int, re.findall(r"cov: (\d+)", log_text))])
        for cause, failure in found.get("failures", {}).items():
            failures.setdefault(cause, failure)
        if code:
            ends += 1
            failures |= _ends(folder, code, log_text)
    corpus = len(list((folder / "corpus").glob("*")))
    return Outcome(target.name, time.monotonic() - began, inputs, covered, corpus, slowest_ms, peak_mib, failures)


def _ends(folder: Path, code: int, log_text: str) -> dict[str, dict[str, str]]:
    """Return why a process ended: the inputs that libFuzzer left, or else its last lines."""
    left = [one for kind in ("crash", "timeout", "oom", "leak") for one in folder.glob(f"{kind}-*")]
    found = {
        f"the process ended ({one.name.split('-')[0]})": {
            "what": log_text[-2_000:],
            "input": base64.b64encode(one.read_bytes()).decode(),
        }
        for one in left
    }
    for one in left:
        one.unlink()
    return found or {f"the process ended with {code}": {"what": log_text[-2_000:], "input": ""}}


def keep_corpus(target: Target, folder: Path) -> None:
    """Put the smallest inputs that were of interest into the repository, up to a size, as lines of base64."""
    known = set(target.seeds())
    found = sorted({one.read_bytes() for one in (folder / "corpus").iterdir()} - known, key=lambda one: (len(one), one))
    lines, size = [], 0
    for data in found:
        line = base64.b64encode(data).decode()
        size += len(line) + 1
        if line and size <= MOST_KEPT_BYTES:
            lines.append(line)
    (CORPUS / f"{target.name}.txt").write_text("".join(f"{line}\n" for line in lines))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--secs", type=float, default=600, help="of all targets together")
    parser.add_argument("--target", action="append", choices=[one.name for one in TARGETS], help="all by default")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "fuzz.json", help="write the run as JSON")
    parser.add_argument("--document", type=Path, help="put the table between the marks of this file")
    parser.add_argument("--keep-corpus", action="store_true", help="keep small inputs of interest in the repository")
    asked = parser.parse_args()
    if find_spec("atheris") is None:
        print("The fuzzer needs atheris, which is there for Linux on x86_64; run `make setup` on such a machine.")
        return 2
    print(f"seed {asked.seed}", flush=True)
    stated = {
        name: value for name, value in versions(ROOT).items() if name in {"pyarrow", "python", "system", "commit"}
    }
    targets = [one for one in TARGETS if not asked.target or one.name in asked.target]
    outcomes = []
    folder = Path(tempfile.mkdtemp(prefix="gluepot-fuzz-"))
    try:
        for target in targets:
            own = folder / target.name
            own.mkdir()
            outcomes.append(fuzzed(target, own, asked.secs / len(targets), asked.seed))
            print(f"{target.name}: {outcomes[-1].inputs} inputs, {len(outcomes[-1].failures)} failures", flush=True)
            if asked.keep_corpus:
                keep_corpus(target, own)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report = as_json(asked.seed, outcomes, stated)
    asked.report.parent.mkdir(parents=True, exist_ok=True)
    asked.report.write_text(report)
    print(as_markdown(report))
    if asked.document:
        write_into(asked.document, as_markdown(report), keep=False, begin=BEGIN)
    return 1 if any(one.failures for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
