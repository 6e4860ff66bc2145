"""The modules of `--additional-python-modules`, in the driver and on executors."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import get_logger
from gluepot.core.python_modules.installation import installed
from gluepot.core.python_modules.site_path import SHIPPED, on_path

log = get_logger(__name__)

_ARCHIVES = "spark.archives"


def for_job(
    parameters: JobParameters, master: str, folder: Path, clock: Clock, stack: ExitStack
) -> tuple[JobParameters, Path]:
    """Install the modules of a job and let this process import them.

    Args:
        parameters: of the job.
        master: of Spark. Executors of a cluster get the modules as an archive.
        folder: takes the archive.
        clock: for the cache of installations.
        stack: takes the modules off the path again, and lets the cache remove them.

    Returns:
        The parameters that bring the modules to executors, and the folder of the modules on this machine.

    Raises:
        ConfigError: a module cannot be installed, or this process has loaded another version of it.
    """
    installation = installed(parameters.python_modules, os.environ, clock)
    stack.enter_context(installation.lock)
    stack.enter_context(on_path(installation.site))
    log.info("python_modules", modules=str(parameters.python_modules), folder=str(installation.folder))
    if master.startswith("local") and not master.startswith("local-cluster"):
        return parameters, installation.site
    archive = shutil.make_archive(str(folder / SHIPPED), "gztar", installation.site)
    archives = ",".join(filter(None, [parameters.conf.get(_ARCHIVES), f"{archive}#{SHIPPED}"]))
    return replace(parameters, conf={**parameters.conf, _ARCHIVES: archives}), installation.site
