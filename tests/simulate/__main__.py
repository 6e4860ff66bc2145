"""`python -m tests.simulate --seeds 0:100`: plays stories and says what they came to."""

from __future__ import annotations

import argparse
import os
import sys

from tests.simulate import threads

threads.install()  # before anything of the product is imported

from tests.simulate import plugs  # noqa: E402
from tests.simulate.run import play  # noqa: E402
from tests.simulate.story import draw  # noqa: E402
from tests.simulate.world import Violation  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0:20")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split(":"))
    plugs.quiet()
    began = threads.real_monotonic()
    failed, hours, batches = 0, 0.0, 0
    for seed in range(first, last):
        plan = draw(seed)
        try:
            outcome = play(plan)
        except Violation as violation:
            failed += 1
            print(plan)
            print(f"VIOLATION seed {seed}: {violation}")
            if violation.__cause__ is not None:
                import traceback
                traceback.print_exception(violation.__cause__)
            for note in violation.__notes__:
                print("\n".join(note.splitlines()[-40:]))
            continue
        hours += outcome.simulated_secs / 3600
        batches += outcome.batches
        print(seed, outcome)
    secs = threads.real_monotonic() - began
    print(f"{last - first} stories, {failed} failed, {hours:.1f} h, {batches} batches in {secs:.1f} s")
    sys.stdout.flush()
    return 1 if failed else 0


os._exit(main())
