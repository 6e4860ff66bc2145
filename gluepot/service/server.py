"""`gluepot serve`: the API on one port, and the controller of the runs beside it, in one process."""

from __future__ import annotations

import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.private import make_private_file, make_private_folder
from gluepot.core.sockets import LOOPBACK, is_loopback, listen, origin_of
from gluepot.core.statedir import state_root
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.service.console.app import with_console
from gluepot.service.console.sessions import new_link_token
from gluepot.service.console.values import url as console_path
from gluepot.service.context import Service
from gluepot.service.controllers.alarms import Alarms
from gluepot.service.controllers.catalog_news import CatalogNews
from gluepot.service.controllers.control import Controller
from gluepot.service.controllers.deliveries import Deliveries
from gluepot.service.controllers.endings import stop_all_runs
from gluepot.service.controllers.log_index import LogIndex
from gluepot.service.controllers.metric_reports import MetricReports
from gluepot.service.controllers.presence import Presence
from gluepot.service.controllers.queued_events import QueuedEvents
from gluepot.service.controllers.retention import DEFAULT_KEEP_DAYS, Retention
from gluepot.service.controllers.workers import Worker, working
from gluepot.service.events.envelopes import Origin
from gluepot.service.figures import Figures
from gluepot.service.foreign_ids import ForeignIds
from gluepot.service.keys import KeyPair, keys_of, own_key, own_token
from gluepot.service.launch.drivers import Drivers
from gluepot.service.operations import operations_of
from gluepot.service.operations.events import receive
from gluepot.service.store.database import open_store, store_url
from gluepot.service.wire.app import call, make_app
from gluepot.service.wire.bounded_connections import MOST_ACCEPTED, MOST_HEAD_BYTES, BoundedConnection, PatientServer

DEFAULT_PORT = 4590
DEFAULT_REGION = "us-east-1"
ACCOUNT = "000000000000"
_METRICS_PORT = "GLUEPOT_METRICS_PORT"
_WAITING_CLIENTS = 128
_STOP_SECS = 90.0
_KEY, _READER_KEY, _ENDPOINT = "key.json", "reader_key.json", "endpoint.json"
_EVENTS_TOKEN, _PLACE = "events_token", "place"
LOCK_FILE = "lock"
KEY_FILES = (_KEY, _READER_KEY, _EVENTS_TOKEN, _PLACE)
"""What a service with the same keys, and with the same runs, has in its folder."""
EVENTS_PATH = "/events"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How the service runs.

    Args:
        host: address to listen on.
        port: 0 takes a free one.
        region: in names of resources; the default of clients and runs.
        most_runs: how many runs may have a process at a time; None for any number.
        keep_days: for how long runs and their logs are kept after their end.
        master: of the Spark cluster that has the executors of runs; None for this machine.
        ends_runs: stop all runs when the service ends, because what they need ends, too.
        shell: further environment variables that a shell needs.
        event_queues: ARNs of queues of SQS that have events.
        topics: URLs that get what is published to a topic of SNS, by the topic's ARN.
        strict_account: refuse calls that name another account, catalog or region.
    """

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    region: str = DEFAULT_REGION
    most_runs: int | None = None
    keep_days: int = DEFAULT_KEEP_DAYS
    master: str | None = None
    ends_runs: bool = False
    shell: Mapping[str, str] = field(default_factory=dict)
    event_queues: tuple[str, ...] = ()
    topics: Mapping[str, str] = field(default_factory=dict)
    strict_account: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a service is.

    Args:
        url: its endpoint.
        region: of its resources.
        key: its own key pair.
        shell: further environment variables that a shell needs.
    """

    url: str
    region: str
    key: KeyPair
    shell: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that listens.

    Args:
        url: its endpoint.
        region: of its resources.
        key: its own key pair.
        events_token: must come with events.
        call: calls an operation as clients do, by its target, such as `AWSGlue.GetJob`.
        ended: set when it no longer listens.
        server: what listens.
    """

    url: str
    region: str
    key: KeyPair
    events_token: str
    call: Callable[[str, Mapping[str, Any]], dict[str, Any]]
    ended: threading.Event
    server: uvicorn.Server

    def stop(self) -> None:
        """End the service. Runs go on."""
        self.server.should_exit = True


def service_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the service: its key, and the folders of its runs."""
    return state_root(environ) / "service"


def key_path(environ: Mapping[str, str]) -> Path:
    """Return where the service's own key pair is."""
    return service_folder(environ) / _KEY


def client_environment(url: str, region: str, key: KeyPair) -> dict[str, str]:
    """Return the environment variables with which AWS clients talk to the service."""
    return {
        "AWS_ENDPOINT_URL_GLUE": url,
        "AWS_ENDPOINT_URL_STS": url,
        "AWS_ENDPOINT_URL_IAM": url,
        "AWS_ENDPOINT_URL_CLOUDWATCH": url,
        "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": url,
        "AWS_ENDPOINT_URL_EVENTBRIDGE": url,
        "AWS_DEFAULT_REGION": region,
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
    }


def events_environment(url: str, token: str) -> dict[str, str]:
    """Return the environment variables that say where others send events, and with which token."""
    return {"GLUEPOT_EVENTS_URL": url + EVENTS_PATH, "GLUEPOT_EVENTS_TOKEN": token}


def console_link(url: str, key: KeyPair, now_secs: float) -> str:
    """Return a link that opens the console in a browser, once, within ten minutes."""
    return url + console_path("login", token=new_link_token(key.secret, now_secs))


def where_it_serves(environ: Mapping[str, str]) -> Endpoint:
    """Return where the service of this state folder is.

    Raises:
        ConfigError: none runs.
    """
    found = _endpoint(environ)
    if found is None:
        raise ConfigError(
            f"No service runs in {service_folder(environ)}; start one with `gluepot serve`, "
            "or set GLUEPOT_STATE to the state folder of a running service."
        )
    return Endpoint(found["url"], found["region"], own_key(key_path(environ)), found.get("shell", {}))


def shell_environment(environ: Mapping[str, str], *, reads_only: bool = False) -> dict[str, str]:
    """Return the environment variables with which a shell talks to the service of this state folder.

    Args:
        environ: environment of the process.
        reads_only: with the key that may only read.

    Raises:
        ConfigError: none runs.
    """
    where = where_it_serves(environ)
    if reads_only:
        return client_environment(where.url, where.region, own_key(service_folder(environ) / _READER_KEY))
    token = own_token(service_folder(environ) / _EVENTS_TOKEN)
    clients = client_environment(where.url, where.region, where.key)
    return {**clients, **events_environment(where.url, token), **where.shell}


def own_place(path: Path) -> str:
    """Return the name of this place, which a file keeps: that of the machine, and something that no other has."""
    make_private_file(path, f"{socket.gethostname()}-{secrets.token_hex(4)}")
    return path.read_text()


def served_region(environ: Mapping[str, str]) -> str | None:
    """Return the region of the service of this state folder; None if none runs."""
    found = _endpoint(environ)
    return None if found is None else str(found["region"])


def _endpoint(environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the service of this state folder has written down about itself; None if none runs."""
    try:
        found: dict[str, Any] = json.loads((service_folder(environ) / _ENDPOINT).read_text())
    except FileNotFoundError:
        return None
    return found


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
    make_private_folder(folder)  # arguments of runs may be secret
    lock = OsFileSystem().lock(folder / LOCK_FILE)
    if lock is None:
        raise ConfigError(f"Another `gluepot serve` works in {folder}; end it, or set GLUEPOT_STATE to another folder.")
    with lock:
        key, reader = own_key(folder / _KEY), own_key(folder / _READER_KEY)
        store = open_store(store_url(environ))
        listening = _listen(options)
        url = origin_of(options.host, listening.getsockname()[1])
        origin = Origin(ACCOUNT, options.region)
        deliveries = Deliveries(store, clock, options.topics)
        of_runs = run_environment(environ, url, options.region, key)
        launcher = Drivers(folder / "runs", of_runs, options.master)
        place = own_place(folder / _PLACE)
        controller = Controller(store, launcher, place, clock, origin, options.most_runs, deliveries.wake)
        shared = Service(store, clock, controller.wake, launcher.folder, environ, ACCOUNT, options.region, place)
        operations = operations_of(shared)
        token, secrets_by_id = own_token(folder / _EVENTS_TOKEN), keys_of(key, environ)
        figures = Figures(store, lambda: controller.looked_secs, clock)
        may_call = {**secrets_by_id, reader.id: reader.secret}
        take_events = partial(receive, shared)
        ids = ForeignIds(origin, figures.foreign, strict=options.strict_account)
        api = make_app(
            ids.watched(operations),
            take_events,
            may_call.get,
            token,
            ACCOUNT,
            figures,
            clock,
            {reader.id},
            ids.check_region,
        )
        app = with_console(api, shared, operations, secrets_by_id.get, key, loopback=is_loopback(options.host))
        http = uvicorn.Config(
            app,
            http=BoundedConnection,
            log_config=None,
            access_log=False,
            lifespan="off",
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
            backlog=MOST_ACCEPTED,
        )
        server = PatientServer(http)
        ended = threading.Event()

        told = [controller.wake, deliveries.wake]
        workers: dict[str, Worker] = {
            "gluepot-api": Listening(server, listening, ended),
            "gluepot-runs": controller,
            "gluepot-events": deliveries,
            "gluepot-catalog-news": CatalogNews(store, environ, origin, shared.arn, clock, told),
            "gluepot-alarms": Alarms(store, origin, shared.alarm_arn, clock, told),
            "gluepot-logs": LogIndex(shared.logs, clock),
            "gluepot-metrics": MetricReports(store, launcher.reports, clock),
            "gluepot-presence": Presence(store, launcher, place, clock, origin),
            "gluepot-retention": Retention(store, launcher, place, clock, options.keep_days),
            **{
                f"gluepot-event-queue-{n}": QueuedEvents(arn, store, origin, clock, told)
                for n, arn in enumerate(options.event_queues)
            },
        }
        where = {"url": url, "region": options.region, "shell": dict(options.shell)}
        with working(workers):
            (folder / _ENDPOINT).write_text(json.dumps(where))
            try:
                yield Serving(url, options.region, key, token, partial(call, operations), ended, server)
            finally:
                (folder / _ENDPOINT).unlink(missing_ok=True)
                if options.ends_runs:
                    stop_all_runs(store, controller.wake, clock, _STOP_SECS)


@dataclass(frozen=True, slots=True)
class Listening:
    """Answers HTTP requests.

    Args:
        server: what answers them.
        listening: where they arrive.
        ended: set when no more are answered.
    """

    server: uvicorn.Server
    listening: socket.socket
    ended: threading.Event

    def run(self) -> None:
        """Answer until `end` is called."""
        try:
            self.server.run(sockets=[self.listening])
        finally:
            self.ended.set()
            with suppress(OSError):
                self.listening.close()

    def end(self) -> None:
        """Answer the requests that are there, and no others."""
        self.server.should_exit = True


def _listen(options: ServeOptions) -> socket.socket:
    try:
        return listen(options.host, options.port, _WAITING_CLIENTS)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"The service cannot listen on {options.host}:{options.port}: {error}.") from error


def run_environment(environ: Mapping[str, str], url: str, region: str, key: KeyPair) -> dict[str, str]:
    """Return the environment of runs: the service's, in which AWS clients find the service.

    Keys and region of the environment stay, because they may be those of the data. The service knows these keys, too.
    A port for the pages and metrics of a job becomes any free port, because a port can be only one run's.
    """
    free_port = {_METRICS_PORT: "0"} if environ.get(_METRICS_PORT) else {}
    return {**client_environment(url, region, key), **environ, **free_port, "AWS_ENDPOINT_URL_GLUE": url}
