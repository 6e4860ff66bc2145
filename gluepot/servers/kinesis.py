"""A Kinesis emulator on this machine, for development and tests: kinesis-mock, which LocalStack uses too.

It supports shards, splits, merges and expiring iterators, and does not check credentials. Streams and records are only
in its memory, so they are lost when it ends. Its enhanced fan-out sends one event a second, without the
`initial-response` that boto3 demands, and never reports the end of a shard.
"""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom

from gluepot.core.disk import GIB_BYTES
from gluepot.servers import npm, ports
from gluepot.servers.embedded import HttpServer
from gluepot.servers.state import REGION

PACKAGE = "kinesis-local"
ACCOUNT = "000000000000"
SHARD_LIMIT = 10_000


class KinesisServer(HttpServer):
    """One emulator; see `EmbeddedServer`. Its URL is for `endpointUrl` and `AWS_ENDPOINT_URL_KINESIS`."""

    TITLE = "Kinesis emulator"
    NEEDED_BYTES = GIB_BYTES
    READY_PATH = "/healthcheck"

    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        self.folder.mkdir(parents=True, exist_ok=True)
        node, package = npm.require_program("node"), npm.unpack(npm.ensure(PACKAGE), self.folder)
        before = Path(__file__).with_name("preload.cjs")
        command = [node, "--require", str(before), str(package / "main.js")]
        return command, settings(self._port, ports.free_port(SystemRandom()), package / "server.json")


def settings(port: int, tls_port: int, certificate: Path) -> dict[str, str]:
    """Return the emulator's environment variables; kinesis-mock's README explains them."""
    return {
        "KINESIS_MOCK_PLAIN_PORT": str(port),
        "KINESIS_MOCK_TLS_PORT": str(tls_port),
        "KINESIS_MOCK_CERT_PATH": str(certificate),
        "AWS_ACCOUNT_ID": ACCOUNT,
        "AWS_REGION": REGION,
        "SHARD_LIMIT": str(SHARD_LIMIT),
        "SHOULD_PERSIST_DATA": "false",
        "LOAD_DATA_IF_EXISTS": "false",
        "LOG_LEVEL": "WARN",
    }


def arn(stream: str) -> str:
    """Return the ARN that the emulator gives a stream."""
    return f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/{stream}"
