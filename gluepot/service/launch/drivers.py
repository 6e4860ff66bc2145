"""The launchers whose drivers are processes of this machine. They differ in where the executors are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from gluepot.core.errors import ConfigError
from gluepot.core.failpoints import reach
from gluepot.core.storage import open_storage
from gluepot.service.decisions.commands import command_of
from gluepot.service.decisions.states import Run
from gluepot.service.launch.processes import Processes
from gluepot.spark.master import addresses

LauncherName: TypeAlias = Literal["process", "spark-submit"]


def master_of(launcher: LauncherName, master: str | None) -> str | None:
    """Return the master of the cluster that has the executors of runs; None if they are this machine.

    Raises:
        ConfigError: the launcher and the master do not fit together, or the master is no URL.
    """
    if launcher == "process":
        if master is not None:
            raise ConfigError(
                f"--master is {master}, which --launcher process does not use; add --launcher spark-submit."
            )
        return None
    if not master:
        raise ConfigError("--launcher spark-submit needs --master, for example spark://spark.example:7077.")
    addresses(master)
    return master


class Drivers(Processes):
    """Starts `gluepot run` for each run.

    With a master, `gluepot run` has Spark's own spark-submit start the driver's JVM in client mode against that master.
    So a driver gets its arguments, is stopped, fails and is found again in the same way, wherever its executors are.

    Args:
        root: the folder of the runs' folders.
        environ: the environment that runs get.
        master: of the cluster that has the executors; None for this machine.
    """

    def __init__(self, root: Path, environ: Mapping[str, str], master: str | None = None) -> None:
        super().__init__(root)
        self._environ = environ
        self._master = master

    def launch(self, run: Run) -> None:
        """See `Launcher`."""
        command = command_of(run, fetched, self._master)
        reach("service.starting")
        self.start(run.id, command.argv, command.files, self._environ)


def fetched(location: str) -> bytes:
    """Return the content of a file, given its path or S3 location.

    Raises:
        EtlError: the location has no form that we know, or the storage does not answer.
        FileNotFoundError: there is no such file.
    """
    folder, _, name = location.rpartition("/")
    return open_storage(folder or "/").get(name)
