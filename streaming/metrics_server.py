"""Serves a metrics registry over HTTP."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server

from etlcore.errors import ConfigError

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Server:
    """A running metrics endpoint; it ends with the process or with `stop`.

    Args:
        host: address it listens on.
        port: port it listens on, also when a free one was asked for.
    """

    host: str
    port: int
    _http: WSGIServer
    _thread: threading.Thread

    @property
    def url(self) -> str:
        """Where Prometheus finds the metrics."""
        return f"http://{self.host}:{self.port}/metrics"

    def stop(self) -> None:
        """Close the port; returns when the last accepted request has been taken."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def serve(registry: CollectorRegistry, host: str = LOOPBACK, port: int = 0) -> Server:
    """Listen in a thread of its own; OpenMetrics or Prometheus text, as the client asks.

    Args:
        registry: what is exposed.
        host: loopback unless told, because the numbers are not for everybody.
        port: 0 takes a free one.

    Raises:
        ConfigError: the port is taken or may not be used, or the host is not one of this machine.
    """
    try:
        http, thread = start_http_server(port, addr=host, registry=registry)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"the metrics port {port} on {host} cannot be used ({error}); "
            "choose another with --metrics-port, or 0 for a free one",
        ) from error
    return Server(host=host, port=http.server_port, _http=http, _thread=thread)
