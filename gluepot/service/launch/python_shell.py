"""Runs a Python shell job: a script without Spark, in a virtual environment with the modules that the job asks for.

    python -m gluepot.service.launch.python_shell MODULES SCRIPT [ARGUMENT ...]

MODULES is the value of `--additional-python-modules`, or an empty text. An environment is made once for each set of
modules, in the cache folder, and shared by all runs. It also sees the packages that Gluepot itself runs with, such as
boto3 and pandas, because AWS Glue's own environments have such packages, too.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from gluepot.core.cachedir import cache_root

_FOLDER = "python-shell"


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Become the script."""
    modules, script, *rest = arguments
    python = sys.executable
    if names := names_of(modules):
        python = str(environment(cache_root(environ) / _FOLDER, names))
    os.execv(python, [python, script, *rest])  # noqa: S606  the job's own script


def names_of(modules: str) -> list[str]:
    """Return the modules of a list that is separated by commas."""
    return [name.strip() for name in modules.split(",") if name.strip()]


def environment(root: Path, names: Sequence[str]) -> Path:
    """Return the Python of the environment that has these modules; the first call makes it.

    Args:
        root: the folder of all environments.
        names: as pip takes them: `name==version`, or the path of a wheel.

    Raises:
        SystemExit: a module cannot be installed; pip's own messages are in the log.
    """
    digest = hashlib.sha256("\n".join([sys.version, *names]).encode()).hexdigest()[:24]
    folder = root / digest
    python = folder / "bin" / "python"
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{digest}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making it
        if (folder / "complete").exists():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        purelib = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
        ours = sysconfig.get_path("purelib")
        # A line with only the path would leave out what the .pth files of that folder add, as editable packages have.
        (purelib / "gluepot-packages.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        installed = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *names],
            check=False,
            stdout=sys.stderr,
        )
        if installed.returncode:
            raise SystemExit(f"error: {', '.join(names)} cannot be installed; pip's message is above.")
        (folder / "complete").touch()
    return python


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
