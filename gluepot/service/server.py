"""`gluepot serve`: the API on one port, and the controller of the runs beside it, in one process."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK, listen, origin_of
from gluepot.core.statedir import state_root
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.service.context import Service
from gluepot.service.control import Controller
from gluepot.service.keys import KeyPair, keys_of, own_key
from gluepot.service.launch.processes import Processes
from gluepot.service.operations import BY_TARGET
from gluepot.service.store.database import open_store, store_url
from gluepot.service.wire.app import make_app

DEFAULT_PORT = 4590
DEFAULT_REGION = "us-east-1"
ACCOUNT = "000000000000"
_WAITING_CLIENTS = 128
_KEY, _ENDPOINT = "key.json", "endpoint.json"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How the service runs.

    Args:
        host: address to listen on.
        port: 0 takes a free one.
        region: in names of resources; the default of clients and runs.
    """

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    region: str = DEFAULT_REGION


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that listens.

    Args:
        url: its endpoint.
        region: of its resources.
        key: its own key pair.
        ended: set when it no longer listens.
        server: what listens.
    """

    url: str
    region: str
    key: KeyPair
    ended: threading.Event
    server: uvicorn.Server

    def stop(self) -> None:
        """End the service. Runs go on."""
        self.server.should_exit = True


def service_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the service: its key, and the folders of its runs."""
    return state_root(environ) / "service"


def client_environment(url: str, region: str, key: KeyPair) -> dict[str, str]:
    """Return the environment variables with which AWS clients talk to the service."""
    return {
        "AWS_ENDPOINT_URL_GLUE": url,
        "AWS_ENDPOINT_URL_STS": url,
        "AWS_ENDPOINT_URL_IAM": url,
        "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": url,
        "AWS_DEFAULT_REGION": region,
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
    }


def where_it_serves(environ: Mapping[str, str]) -> tuple[str, str, KeyPair]:
    """Return endpoint, region and key of the service of this state folder.

    Raises:
        ConfigError: none runs.
    """
    folder = service_folder(environ)
    try:
        found = json.loads((folder / _ENDPOINT).read_text())
    except FileNotFoundError:
        raise ConfigError("No service runs; start one with `gluepot serve`.") from None
    return found["url"], found["region"], own_key(folder / _KEY)


@contextmanager
def service(options: ServeOptions, environ: Mapping[str, str], clock: Clock) -> Iterator[Serving]:
    """Run a service until the context ends.

    Args:
        options: how.
        environ: says where state, ledger and catalog are; runs inherit it.
        clock: tells the time.

    Raises:
        ConfigError: another service has the folder, or the port is taken.
        TransientError: the database cannot be reached.
    """
    folder = service_folder(environ)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # arguments of runs may be secret
    lock = OsFileSystem().lock(folder / "lock")
    if lock is None:
        raise ConfigError(f"Another `gluepot serve` works in {folder}; end it, or set GLUEPOT_STATE to another folder.")
    with lock:
        key = own_key(folder / _KEY)
        store = open_store(store_url(environ))
        listening = _listen(options)
        url = origin_of(options.host, listening.getsockname()[1])
        processes = Processes(folder / "runs")
        controller = Controller(store, processes, _run_environment(environ, url, options.region, key), clock)
        shared = Service(store, clock, controller.wake, processes.folder, environ, ACCOUNT, options.region)
        operations = {target: partial(one, shared) for target, one in BY_TARGET.items()}
        app = make_app(operations, keys_of(key, environ).get, ACCOUNT, clock)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
        ended = threading.Event()

        def serve() -> None:
            try:
                server.run(sockets=[listening])
            finally:
                ended.set()

        threads = [
            threading.Thread(target=serve, name="gluepot-api"),
            threading.Thread(target=controller.run, name="gluepot-runs"),
        ]
        for thread in threads:
            thread.start()
        (folder / _ENDPOINT).write_text(json.dumps({"url": url, "region": options.region}))
        try:
            yield Serving(url, options.region, key, ended, server)
        finally:
            (folder / _ENDPOINT).unlink(missing_ok=True)
            server.should_exit = True
            controller.end()
            for thread in threads:
                thread.join()
            with suppress(OSError):
                listening.close()


def _listen(options: ServeOptions) -> socket.socket:
    try:
        return listen(options.host, options.port, _WAITING_CLIENTS)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"The service cannot listen on {options.host}:{options.port}: {error}.") from error


def _run_environment(environ: Mapping[str, str], url: str, region: str, key: KeyPair) -> dict[str, str]:
    """Return the environment of runs: the service's, in which AWS clients find the service.

    Keys and region of the environment stay, because they may be those of the data. The service knows these keys, too.
    """
    return {**client_environment(url, region, key), **environ, "AWS_ENDPOINT_URL_GLUE": url}
