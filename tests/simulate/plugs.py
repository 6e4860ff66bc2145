"""Puts the simulated disk, store, broker and Spark in the places where the product meets the real ones."""

from __future__ import annotations

import io
import logging
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from gluepot.core import storage as storages
from gluepot.core.storage.local import LocalStorage
from gluepot.core.storage.s3 import S3Storage
from tests.simulate import spark, threads
from tests.simulate.broker import Admin, Broker, Consumer
from tests.simulate.disk import Disk, DiskView
from tests.simulate.objects import Handle, ObjectStore


def quiet() -> None:
    """Let no log line be made: a simulation tells its story by its trace."""
    from gluepot.core.plain_structlog import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@contextmanager
def plugged(disks: dict[str, Disk], store: ObjectStore, broker: Broker) -> Iterator[None]:
    """Connect the product to a simulated world while this is open.

    Args:
        disks: the disk of each machine, by its name.
        store: what `s3:` leads to.
        broker: the Kafka broker.
    """
    views: dict[threads.Process, DiskView] = {}

    def local(path: Path) -> LocalStorage:
        process = threads.process()
        if process not in views:
            views[process] = DiskView(disks[process.host], process)
        return LocalStorage(path, views[process])

    replaced: list[tuple[Any, str, Any]] = []

    def put_into(found: Any, name: str, value: Any) -> None:
        replaced.append((found, name, getattr(found, name)))
        setattr(found, name, value)

    def put(module: str, name: str, value: Any) -> None:
        put_into(import_module(module), name, value)

    reader, kafka = "gluepot.connectors.kafka.reader", "gluepot.connectors.kafka.broker"
    messages = "gluepot.connectors.kafka.messages"
    put(storages.__name__, "LocalStorage", local)
    put("gluepot.core.storage.s3", "obstore", store)
    put("gluepot.core.storage.s3", "connect", Handle)
    # pyarrow reads some files with threads of its own, which no seed schedules; so it gets whole objects.
    put_into(S3Storage, "reader", lambda self, key: io.BytesIO(self.get(key)))
    put(reader, "can_serve", lambda client: False)
    put(messages, "Consumer", lambda client: Consumer(broker, client))
    for name in ("error", "offset", "value"):
        put(messages, f"_{name}", operator.methodcaller(name))
    put(kafka, "AdminClient", lambda client: Admin(broker, client))
    put("gluepot.engine.execute", "_over_pieces", spark.over_pieces)
    # Manifests are rolled up, and tables forgotten, after so few batches that stories get there.
    for module in ("connectors.files.sink.layout", "commit.rollup", "commit.rolling"):
        put(f"gluepot.{module}", "FOLDER_BATCHES", 8)
    put("gluepot.commit.writes", "_KEPT_BATCHES", 10)
    try:
        yield
    finally:
        for module, name, value in reversed(replaced):
            setattr(module, name, value)
        for clients in (import_module(reader)._readers, import_module(reader)._peekers, import_module(kafka)._brokers):
            clients.clear()
