"""python -m scripts.test_run [--record]: lint and all tests, with what they cost; `make test` runs it.

The tests run in two parts, so that the processes of the second, which start servers and jobs, hold no Spark of the
first. Lint and the unit tests run at the same time with what these leave of the processors; their lines follow at the
end. `--record` makes the processor time of this run the new budget.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from scripts import test_budget, test_folder, test_times
from scripts.reaping import Children, adopt_orphans, used_secs
from tests.processor_time import FOLDER_VARIABLE

TIMES = Path(".test_times")
PROCESSOR_TIMES = TIMES / "processor"
BIN = Path(sys.executable).parent
COMMON = (
    # Of a test that passed, the files go at its own end.
    *("-o", "tmp_path_retention_policy=failed"),
    # Each file of tests stays in one process, and the order is that of tests/conftest.py.
    *("--dist", "loadfile", "--no-loadscope-reorder"),
    # A test that hangs ends its process, which prints what each thread was at, and it fails. Else CI would be cut off
    # without a word about it. The process is not replaced: the new one would begin with the same test.
    *("-o", "faulthandler_timeout=900", "-o", "faulthandler_exit_on_timeout=true", "--max-worker-restart", "0"),
    *("-m", "not long"),
)
ORPHANS_SECS = 10.0
"""How long the last JVMs may take to end."""
CALIBRATIONS = 2
"""At the start and again at the end. The fastest counts: a task that is disturbed takes longer, never shorter."""


def pytest_command(part: str, folder: Path, processes: int, *tests: str) -> list[str]:
    """Return the command that runs some tests, with their files in a folder and their times in a report."""
    where = ["--basetemp", str(folder / part), "--junitxml", str(TIMES / f"{part}.xml")]
    return [str(BIN / "pytest"), *where, "--numprocesses", str(processes), *COMMON, *tests]


def calibrate(children: Children) -> float:
    """Return the processor seconds of the calibration task. Nothing else of this run may run meanwhile."""
    secs = []
    for _ in range(CALIBRATIONS):
        began_secs = used_secs()
        if children.wait(children.start([sys.executable, "-m", "scripts.test_calibration"])):
            raise SystemExit("The calibration task failed; its error is above.")
        secs.append(used_secs() - began_secs)
    return min(secs)


def run_all(children: Children, folder: Path) -> bool:
    """Run lint and the tests; return whether all passed. Those that ran in the background are shown at the end."""
    background = {
        "lint": ["nice", "-n", "15", "make", "lint"],
        "unit": ["nice", "-n", "15", *pytest_command("unit", folder, 2, "tests/unit")],
    }
    outputs = {name: TIMES / f"{name}.txt" for name in background}
    started = {name: children.start(command, outputs[name]) for name, command in background.items()}
    others = ("--ignore", "tests/unit", "--ignore", "tests/spark")
    foreground = [pytest_command("1", folder, 2, "tests/spark"), pytest_command("2", folder, 3, *others)]
    codes = [children.wait(children.start(command)) for command in foreground]
    codes += [children.wait(process) for process in started.values()]
    for output in outputs.values():
        print(output.read_text(errors="replace"), end="", flush=True)
    return not any(codes)


def file_secs(folder: Path) -> Mapping[str, float]:
    """Return the processor seconds by file of tests, as the processes of pytest noted them."""
    secs: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            noted = json.loads(line)
            secs[noted["name"]] += noted["secs"]
    return secs


def main() -> int:
    """Run everything; return the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    shutil.rmtree(TIMES, ignore_errors=True)
    PROCESSOR_TIMES.mkdir(parents=True)
    folder = test_folder.make()
    adopt_orphans()
    children = Children()
    try:
        unit_secs = calibrate(children)
        began_secs = used_secs()
        os.environ[FOLDER_VARIABLE] = str(PROCESSOR_TIMES.absolute())
        has_passed = run_all(children, folder)
        children.wait_for_orphans(ORPHANS_SECS)
        total_secs = used_secs() - began_secs
        unit_secs = min(unit_secs, calibrate(children))
    finally:
        children.terminate()
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(test_times.lines(test_times.read_all(sorted(TIMES.glob("*.xml"))))))
    secs = Counter(file_secs(PROCESSOR_TIMES)) + children.orphan_secs
    return 0 if judge(total_secs, secs, unit_secs, has_passed=has_passed) else 1


def judge(total_secs: float, secs: Mapping[str, float], unit_secs: float, *, has_passed: bool) -> bool:
    """Print what the run cost; return whether it passed within the budget. One with a failure is not compared."""
    print("\n".join(test_budget.report(total_secs, secs, unit_secs)))
    units = {name: used / unit_secs for name, used in secs.items()}
    if not has_passed:
        return False
    if "--record" in sys.argv[1:]:
        test_budget.write(total_secs / unit_secs, units)
        return True
    over = test_budget.excesses(total_secs / unit_secs, units, test_budget.read())
    if over:
        print(*over, "Make the tests cheaper, mark some as long, or record a new budget and say why.", sep="\n")
    return not over


if __name__ == "__main__":
    sys.exit(main())
