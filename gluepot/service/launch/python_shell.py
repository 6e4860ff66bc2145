"""Runs a Python shell job: a script without Spark, in a virtual environment with the modules that the job asks for.

    python -m gluepot.service.launch.python_shell MODULES OPTIONS FILES SCRIPT [ARGUMENT ...]

MODULES, OPTIONS and FILES are the values of `--additional-python-modules`, `--python-modules-installer-option` and
`--extra-py-files`, or empty. Wheels are installed with the packages that they require; Python imports from the other
files, which are copied to the working folder.

The environment also sees the packages that Gluepot itself runs with, such as boto3 and pandas, because AWS Glue's own
environments have such packages, too.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import is_zipfile

from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, EtlError
from gluepot.core.job_parameters import EXTRA_PY_FILES, python_files
from gluepot.core.python_modules.files import fetched
from gluepot.core.python_modules.installation import installed
from gluepot.core.python_modules.requests import request_of

_FOLDER = "extra-py-files"


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Become the script.

    Raises:
        SystemExit: a module cannot be installed, or a file is not there.
    """
    modules, options, files, script, *rest = arguments
    python = sys.executable
    try:
        request = request_of(modules, options)
        wheels, others = wheels_and_others(python_files(files))
        request = replace(request, modules=(*request.modules, *wheels))
        paths = _copied(others, Path(_FOLDER))
        if request.modules:
            installation = installed(request, environ, SystemClock())
            os.set_inheritable(installation.lock.fileno(), True)
            python = str(installation.python)
    except EtlError as failed:
        raise SystemExit(f"error: {failed}") from failed
    found = [*paths, *filter(None, [environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(found)} if found else {}
    os.execve(python, [python, script, *rest], {**environ, **own})  # noqa: S606  the job's own script


def wheels_and_others(files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files that pip installs, and those that Python imports from. Both keep their order."""
    wheels = [file for file in files if file.endswith(".whl")]
    return wheels, [file for file in files if file not in wheels]


def _copied(files: Sequence[str], folder: Path) -> list[str]:
    """Copy files, each to a folder of its own; return the paths that they are imported from."""
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier attempt
    paths = []
    for number, url in enumerate(files):
        folder.mkdir(exist_ok=True)
        copy, _ = fetched(url, folder / str(number), EXTRA_PY_FILES)
        if copy.suffix != ".py" and not is_zipfile(copy):  # Python would not say why its modules are not there
            raise ConfigError(f"--{EXTRA_PY_FILES} has {url!r}, which is no ZIP archive; make it again.")
        paths.append(str(copy.parent.absolute() if copy.suffix == ".py" else copy.absolute()))
    return paths


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
