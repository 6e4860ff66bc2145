"""Runs commands of the AWS command line in one process, because its start takes longer than most commands.

Each line of the standard input is a command, as JSON: its arguments without `aws`. Each line of the standard output is
what became of it: `code`, `out` and `err`.
"""

import contextlib
import io
import json
import sys

from awscli.clidriver import create_clidriver


def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = create_clidriver().main(arguments)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
