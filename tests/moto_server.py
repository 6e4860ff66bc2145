"""Moto in a thread of this process, without its races."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def moto_endpoint(
    around: Callable[[Any], Any] = lambda application: application, *, host: str = "127.0.0.1", port: int = 0
) -> Iterator[str]:
    """Yield the URL of moto, which answers as S3, Kinesis and other services of AWS.

    Args:
        around: makes of its WSGI application the one that is served.
        host: where it listens.
        port: likewise; 0 for a free one.
    """
    from moto.server import ThreadedMotoServer

    _one_change_at_a_time()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it writes a line per request
    server = ThreadedMotoServer(ip_address=host, port=port, verbose=False)
    server.start()
    inner: Any = server._server
    inner.app = around(inner.app)
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@functools.cache
def _one_change_at_a_time() -> None:
    """Make moto, in this process and until it ends, change each kind of thing in one thread at a time."""
    from moto.kinesis.models import Shard
    from moto.s3.responses import S3Response
    from moto.sqs.models import Message

    # Moto (5.2.5) answers calls in threads. Two that put into a shard at once may get the same sequence number; then it
    # has acknowledged both records and keeps one. Of two that create an object with If-None-Match at once, both may
    # find that there is none. And of two that receive a message at once, one may get a receipt that moto forgets; then
    # the message cannot be deleted with it.
    for kind, name in ((Shard, "put_record"), (S3Response, "put_object"), (Message, "mark_received")):
        setattr(kind, name, _alone(getattr(kind, name)))


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    one_at_a_time = threading.Lock()

    @functools.wraps(method)
    def alone(*given: Any, **named: Any) -> Any:
        with one_at_a_time:
            return method(*given, **named)

    return alone
