"""An S3 server over a folder: the gateway of Versity, which keeps objects as files and holds no list of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from gluepot.core.disk import GIB_BYTES
from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.embedded import HttpServer

_PROGRAM = "versitygw"
_TOOLS = Path(__file__).parents[1] / ".tools" / "bin"
_KEY, _SECRET, _REGION = "gluepot", "gluepot-secret", "us-east-1"


class S3Gateway(HttpServer):
    """Serves the folders of a folder as buckets.

    Args:
        folder: of the server's log.
        buckets: the folder whose folders are buckets. Files in them are objects; nothing is copied.
        takes_parts: whether objects can be uploaded in parts. Entity tags are then kept in attributes of the files,
            which files that are links to each other share.
    """

    TITLE = "S3 gateway"
    NEEDED_BYTES = GIB_BYTES
    READY_PATH = "/health"

    def __init__(self, folder: Path, buckets: Path, *, takes_parts: bool) -> None:
        super().__init__(folder)
        self._buckets = buckets
        self._takes_parts = takes_parts

    @property
    def environ(self) -> dict[str, str]:
        """What clients need in their environment."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": _KEY,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_REGION": _REGION,
        }

    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        self.folder.mkdir(parents=True, exist_ok=True)
        tags = [] if self._takes_parts else ["--nometa", "--default-etag", "none"]
        posix = ["posix", *tags, str(self._buckets)]
        address = ["--port", f"{LOOPBACK}:{self._port}", "--region", _REGION, "--health", self.READY_PATH]
        login = ["--access", _KEY, "--secret", _SECRET]
        return [program(), *address, *login, "--quiet", "--keep-alive", *posix], {}


def program() -> str:
    """Return the path of the server's program.

    Raises:
        ConfigError: it is not installed.
    """
    found = shutil.which(_PROGRAM, path=f"{_TOOLS}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise ConfigError(f"There is no {_PROGRAM}, which serves the objects; install Go and run make bench-crawl.")
    return found


def version() -> str:
    """Return the name of the program and its version, as Go's build information tells it."""
    told = subprocess.run(["go", "version", "-m", program()], capture_output=True, check=False, text=True).stdout
    module = next((line.split() for line in told.splitlines() if line.strip().startswith("mod")), [])
    return f"{_PROGRAM} {module[2]}" if len(module) > 2 else _PROGRAM
