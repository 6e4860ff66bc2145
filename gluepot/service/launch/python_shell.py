"""Runs a Python shell job: a script without Spark, in a virtual environment with the modules that the job asks for.

    python -m gluepot.service.launch.python_shell MODULES OPTIONS SCRIPT [ARGUMENT ...]

MODULES and OPTIONS are the values of `--additional-python-modules` and `--python-modules-installer-option`, or empty.
The environment also sees the packages that Gluepot itself runs with, such as boto3 and pandas, because AWS Glue's own
environments have such packages, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from gluepot.core.clock import SystemClock
from gluepot.core.errors import EtlError
from gluepot.core.python_modules.installation import installed
from gluepot.core.python_modules.requests import request_of


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Become the script.

    Raises:
        SystemExit: a module cannot be installed.
    """
    modules, options, script, *rest = arguments
    python = sys.executable
    try:
        request = request_of(modules, options)
        if request.modules:
            installation = installed(request, environ, SystemClock())
            os.set_inheritable(installation.lock.fileno(), True)
            python = str(installation.python)
    except EtlError as failed:
        raise SystemExit(f"error: {failed}") from failed
    os.execv(python, [python, script, *rest])  # noqa: S606  the job's own script


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
