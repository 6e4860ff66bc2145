"""The command."""

from __future__ import annotations

import os
from dataclasses import asdict

from gluepot.cli.doctor.judge import conclusion
from gluepot.cli.doctor.look import look
from gluepot.cli.output import Output, show
from gluepot.core.clock import SystemClock

PROBLEM = 1


def doctor(*, output: Output = "text") -> None:
    """Check what jobs need here: Java, kernel, folders, disk, credentials, endpoints, clock; say what to do.

    Only servers that variables, connections or gluepot.toml name are asked. The exit code is 1 if something is missing
    that jobs need.

    Args:
        output: text for people; json for a list of objects with name, state, found, to_do.
    """
    checks = list(look(os.environ, SystemClock()))
    show([asdict(one) for one in checks], output, "")
    if output == "text":
        print(conclusion(checks))
    if any(one.state == "problem" for one in checks):
        raise SystemExit(PROBLEM)
