"""What this machine has to have, and the namespaces in which a run lives."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from tests.postgresql import server_program

# A namespace of processes, too: when its first process ends, all others do.
NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
PROGRAMS = ("ip", "tc", "unshare", "setpriv", "mount")


def namespaced(command: Sequence[str]) -> list[str]:
    """Return what runs a command in new namespaces, whose network has no way out."""
    return [*NAMESPACES, *command]


def missing() -> str:
    """Why no cluster can be made here; empty if one can."""
    if os.geteuid() != 0:
        return "a cluster needs namespaces, which root alone may make: run the tests as root"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"a cluster needs {', '.join(absent)}: install Debian's iproute2 and util-linux, or what has them"
    if not server_program("initdb"):
        return "a cluster needs PostgreSQL's server programs: install Debian's postgresql, or what has them"
    try:
        subprocess.run(namespaced(["ip", "link", "add", "type", "veth"]), check=True, capture_output=True)
    except subprocess.CalledProcessError as refused:
        return f"this machine makes no namespaces with links of their own: {refused.stderr.decode().strip()}"
    return ""
