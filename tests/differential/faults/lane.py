"""A process with Spark, copies of which run the tester: to start Spark and to warm it up takes longer than most rounds.

It reads the arguments of each run from its input, a line of JSON. What the run prints goes to its output, and then a line
with `END` and the exit code. Each copy imports the code as the files have it then.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

END = "end of the run:"
_OURS = {"awsglue", "awsgluedq", "awsglueml", "gluepot", "tests"}


def _run(arguments: list[str]) -> int:
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    from tests.differential.__main__ import main

    return main(arguments)


def main() -> None:
    """Serve runs until the input ends."""
    from tests.differential.__main__ import session

    session([])()
    for line in sys.stdin:
        copy = os.fork()
        if not copy:
            code = 1
            try:
                code = _run(json.loads(line))
            except BaseException:  # noqa: BLE001 - it is said, and the copy must not go on as if it were the original
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(code)
        print(END, os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
