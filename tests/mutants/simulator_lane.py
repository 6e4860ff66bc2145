"""Plays stories with wrong versions, in copies of a process that has loaded everything once.

It is started by `tests.mutants.__main__`, with a fixed seed of hashes, because the order of sets depends on it:
python -m tests.mutants.simulator_lane MUTANTS.json VERDICTS.jsonl SECS
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.simulate import threads

threads.install()  # before anything of the product is imported

from tests.mutants.children import in_copy  # noqa: E402
from tests.mutants.operators import Mutant, mutated  # noqa: E402
from tests.mutants.targets import ROOT, loaded, put  # noqa: E402
from tests.simulate import plugs, wrong  # noqa: E402, F401 - what it changes has to be loaded
from tests.simulate.plan import draw  # noqa: E402
from tests.simulate.run import play  # noqa: E402
from tests.simulate.world import Violation  # noqa: E402


def _played(mutant: Mutant, secs: float) -> dict[str, Any]:
    plugs.quiet()
    functions = loaded(mutant.path).get(mutant.function)
    if not functions:
        return {"by": None, "stories": 0, "note": "the simulator does not load it"}
    put(functions, mutated(mutant, (ROOT / mutant.path).read_text(), functions[0].__code__.co_filename))
    seed, end = 0, time.monotonic() + secs
    while time.monotonic() < end:
        try:
            play(draw(seed))
        except Violation as violation:
            return {"by": f"seed {seed}: {str(violation).splitlines()[0][:300]}", "stories": seed + 1}
        except Exception as error:  # noqa: BLE001 - right versions let no story end in this way
            return {"by": f"seed {seed}: {error!r:.300}", "stories": seed + 1}
        seed += 1
    return {"by": None, "stories": seed}


def main() -> None:
    """Judge the wrong versions of a file."""
    drawn, verdicts, secs = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), float(sys.argv[3])
    for given in drawn:
        mutant = Mutant(**given)
        # A story takes seconds; one that takes minutes is one that does not end.
        verdict = in_copy(lambda mutant=mutant: _played(mutant, secs), most_secs=secs + 180)
        if verdict is None:
            verdict = {"by": "a story does not end", "stories": 1}
        with verdicts.open("a") as lines:
            lines.write(json.dumps(verdict) + "\n")
        print(f"{mutant}: {verdict}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # threads of the simulation that wait for ever would be waited for
