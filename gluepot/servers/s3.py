"""An S3 emulator on this machine, for development and tests: moto. Buckets are only in its memory."""

from __future__ import annotations

import http.client
import re
import sys
from importlib.util import find_spec

from gluepot.core.disk import GIB_BYTES
from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.embedded import HttpServer

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class S3Server(HttpServer):
    """One emulator; see `EmbeddedServer`. It checks no credentials; its URL is for `AWS_ENDPOINT_URL_S3`."""

    TITLE = "S3 emulator"
    NEEDED_BYTES = GIB_BYTES
    READY_PATH = "/moto-api/"

    def make_bucket(self, name: str) -> None:
        """Make a bucket, unless it is there."""
        make_bucket(self._port, name)

    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        if find_spec("moto") is None or find_spec("flask") is None:
            raise ConfigError("The S3 emulator needs moto; install gluepot[dev].")
        self.folder.mkdir(parents=True, exist_ok=True)
        return [sys.executable, "-m", "moto.server", "-H", LOOPBACK, "-p", str(self._port)], {}


def make_bucket(port: int, name: str) -> None:
    """Make a bucket of the emulator at a port, unless it is there.

    Raises:
        ConfigError: the name is none for a bucket.
    """
    if not _BUCKET.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a valid bucket name; use 3 to 63 lower-case letters, digits, dots and dashes."
        )
    asked = http.client.HTTPConnection(LOOPBACK, port)
    try:
        asked.request("PUT", f"/{name}")
        asked.getresponse().read()
    finally:
        asked.close()
