"""Plays the stories of some seeds in a process of its own; prints one line of JSON for each.

It is started by `tests.simulate.__main__`, with a fixed seed of hashes, because the order of sets depends on it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path

from tests.simulate import threads

threads.install()  # before anything of the product is imported

from tests.model.changes import Recorder  # noqa: E402
from tests.simulate import plugs, wrong  # noqa: E402
from tests.simulate.plan import Plan, draw  # noqa: E402
from tests.simulate.run import play  # noqa: E402
from tests.simulate.script import root_of  # noqa: E402
from tests.simulate.shrink import shrink  # noqa: E402
from tests.simulate.world import Violation  # noqa: E402


def _fails(plan: Plan) -> bool:
    try:
        play(plan)
    except Violation:
        return True
    return False


def _found(plan: Plan, *, shortens: bool) -> dict[str, str]:
    """Return what a story that fails comes to in the end, and the shortest one that fails as well."""
    plan = shrink(plan, _fails) if shortens else plan
    try:
        play(plan)
    except Violation as violation:
        cause = violation.__cause__
        causes = "" if cause is None else "".join(traceback.format_exception(cause))
        return {"plan": str(plan), "violation": str(violation), "cause": causes, "tale": "\n".join(violation.__notes__)}
    return {"plan": str(plan), "violation": "it fails no more when it is played again; the seed does not decide all"}


def _write_log(path: Path, recorder: Recorder) -> None:
    """Write the log of a story; this process may be killed meanwhile, so it gets its name at the end."""
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("w") as file:
        file.writelines(f"{json.dumps(entry)}\n" for entry in recorder.entries(f"seed {path.stem}"))
    unfinished.rename(path)


def main() -> None:
    """Play stories until the time is up, or until one fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--stories", type=int, default=1 << 62)
    parser.add_argument("--wrong")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--logs", type=Path, help="the folder that gets what each story changes in its tables")
    given = parser.parse_args()
    plugs.quiet()
    if given.wrong:
        wrong.VERSIONS[given.wrong]()
    for n in range(given.stories):
        seed = given.first + n * given.step
        plan, began = draw(seed), time.process_time()
        line: dict[str, object] = {"seed": seed}
        recorder = Recorder(root_of) if given.logs else None
        try:
            line["outcome"] = asdict(play(plan, recorder))
        except Violation as violation:
            line["violation"] = str(violation)
            line["found"] = _found(plan, shortens=given.shrink)
        if recorder is not None:
            _write_log(given.logs / f"{seed}.jsonl", recorder)
        line["cpu_secs"] = time.process_time() - began
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # threads of the simulation that wait for ever would be waited for
