"""What Spark does with a streaming query: it plans batches, logs them, calls the function, and logs that it returned.

The order of the actions and the files are those of Spark 4.1 (`MicroBatchExecution`, `HDFSMetadataLog`). Planning goes
through the product's own data source.
"""

from __future__ import annotations

import json
import pickle
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.errors import StreamingQueryException

from gluepot.connectors.contracts import StreamSource
from gluepot.connectors.streams.datasource import RangeStreamReader
from gluepot.connectors.streams.handover import Handover
from gluepot.core.storage import Storage, open_storage
from gluepot.core.storage.local import LocalStorage
from gluepot.engine.task import Place
from gluepot.streaming.micro_batch.frames import StreamFrame
from tests.simulate import threads
from tests.simulate.world import World

_POLL_SECS = 0.5
_SLOTS = 2
DONE = b"v1\n{}"
"""The contents of an entry of the commit log."""

OnBatch = Callable[[Any, int], None]


class Accumulator:
    """What tasks add to, which share the driver's process."""

    def __init__(self, value: Any, param: Any) -> None:
        self.value = value
        self._param = param

    def add(self, more: Any) -> None:
        self.value = self._param.addInPlace(self.value, more)


class Context:
    """As much of a SparkContext as the engine asks for."""

    defaultParallelism = _SLOTS  # noqa: N815  as in pyspark
    master = "spark://simulated"

    def accumulator(self, value: Any, param: Any) -> Accumulator:
        return Accumulator(value, param)


class Session:
    """As much of a SparkSession as a query asks for."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sparkContext = Context()
        self.streams = SimpleNamespace(active=())
        self.conf = SimpleNamespace(getAll={}, get=lambda _, default=None: default)


class Frame(StreamFrame):
    """A streaming DataFrame, or a batch of it, without a JVM."""

    def __init__(self, session: Session, source: StreamSource, handover: Handover) -> None:
        self._session = session
        self.source = source
        self.handover = handover
        self.json_column = "$json$data_infer_schema$_temporary$"
        self.extras = ()

    @property
    def sparkSession(self) -> Any:  # noqa: N802  as in pyspark
        return self._session

    @property
    def writeStream(self) -> Any:  # noqa: N802
        return Writer(self)


class Writer:
    """A DataStreamWriter."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._window_secs = 0.0

    def foreachBatch(self, on_batch: OnBatch) -> Writer:  # noqa: N802
        self._on_batch = on_batch
        return self

    def trigger(self, *, processingTime: str) -> Writer:
        self._window_secs = int(processingTime.split(maxsplit=1)[0]) / 1000
        return self

    def queryName(self, _: str) -> Writer:  # noqa: N802
        return self

    def option(self, _: str, checkpoint: str) -> Writer:
        self._checkpoint = checkpoint
        return self

    def start(self) -> StreamingQuery:
        return StreamingQuery(self._frame, self._on_batch, self._window_secs, self._checkpoint)


class StreamingQuery:
    """A running query: one thread that makes batch after batch."""

    def __init__(self, frame: Frame, on_batch: OnBatch, window_secs: float, checkpoint: str) -> None:
        self._frame = frame
        self._on_batch = on_batch
        self._window_secs = window_secs
        self._storage = open_storage(checkpoint)
        self._stop = threading.Event()
        self._failure: StreamingQueryException | None = None
        self.status = {"isTriggerActive": False}
        self._thread = threading.Thread(target=self._run, name="stream execution", daemon=True)
        self._thread.start()

    def awaitTermination(self, timeout: float) -> bool:  # noqa: N802
        # The product looks every 50 ms; so many looks would only cost time here.
        self._thread.join(max(timeout, _POLL_SECS))
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._batches()
        except Exception as error:  # noqa: BLE001  whatever ends a query becomes its exception
            self._failure = StreamingQueryException(f"[STREAM_FAILED] {type(error).__name__}: {error}")
        finally:
            self.status["isTriggerActive"] = False

    def _batches(self) -> None:
        storage, frame = self._storage, self._frame
        if not _exists(storage, "metadata"):
            _write_new(storage, "metadata", json.dumps({"id": str(uuid.uuid4())}).encode())
        source = pickle.loads(pickle.dumps(frame.source))
        reader = RangeStreamReader(source, frame.handover)
        planned, done = _newest(storage, "offsets"), _newest(storage, "commits")
        batch_id, last = 0, None
        if planned is not None:
            last = json.loads(storage.get(f"offsets/{planned}").decode().splitlines()[2])
            batch_id = planned if done is None or done < planned else planned + 1
        else:
            reader.initialOffset()
        repeats = planned is not None and batch_id == planned
        while not self._stop.is_set():
            began = frame.sparkSession.world.now
            self.status["isTriggerActive"] = True
            if not repeats:
                newest = reader.latestOffset()
                if newest == last:
                    self.status["isTriggerActive"] = False
                    self._stop.wait(max(self._window_secs, _POLL_SECS))
                    continue
                last = newest
                self._log("offsets", batch_id, f"v1\n{{}}\n{json.dumps(newest)}\n".encode())
            repeats = False
            if self._stop.is_set():
                return
            with frame.sparkSession.world.during(batch_id):
                self._on_batch(Frame(frame.sparkSession, frame.source, frame.handover), batch_id)
            self._log("commits", batch_id, DONE)
            reader.commit(last)
            batch_id += 1
            self.status["isTriggerActive"] = False
            self._stop.wait(max(0.0, self._window_secs - (frame.sparkSession.world.now - began)))

    def _log(self, log: str, batch_id: int, text: bytes) -> None:
        world = self._frame.sparkSession.world
        if log == "commits" and world.now < world.commits_refused_until:
            raise OSError(f"commits/{batch_id}: Permission denied")
        if not _write_new(self._storage, f"{log}/{batch_id}", text):
            raise RuntimeError(f"[CONCURRENT_STREAM_LOG_UPDATE] {log}/{batch_id} was written by another query")


def _write_new(storage: Storage, key: str, data: bytes) -> bool:
    """Write a file as Hadoop does: on a local disk it gets its name when it is written, and nothing is flushed."""
    if not isinstance(storage, LocalStorage):
        return storage.create(key, data)
    disk, path = storage.disk, storage.root / key
    for folder in reversed(path.parents):
        if not disk.is_folder(folder):
            disk.make_folder(folder)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
    file = disk.create(temporary)
    file.write(data)
    file.close()
    if _exists(storage, key):
        disk.unlink(temporary)
        return False
    disk.rename(temporary, path)
    return True


def _exists(storage: Storage, key: str) -> bool:
    try:
        storage.get(key)
    except FileNotFoundError:
        return False
    return True


def _newest(storage: Storage, log: str) -> int | None:
    names = (key.rsplit("/", 1)[1] for key in storage.list(log))
    return max((int(name) for name in names if name.isdecimal()), default=None)


def over_pieces(
    session: Session, pieces: Sequence[Any], body: Callable[[Iterable[Any], Place], Iterator[Any]]
) -> list[Any]:
    """Run a Spark job: one task for each piece, and again for a task that fails, up to four times in all."""
    attempts = iter(range(1_000_000))
    chance = session.world.faults

    def task(ordinal: int, piece: Any) -> list[Any]:
        for attempt in range(4):
            try:
                found = list(body(iter([piece]), Place(ordinal, next(attempts))))
                if chance.random() < 0.02 and attempt < 3:
                    continue  # the executor is lost with the result, and the task runs again
                return pickle.loads(pickle.dumps(found))
            except Exception:
                if attempt == 3:
                    raise
        raise AssertionError

    if not pieces:
        return []
    with ThreadPoolExecutor(_SLOTS) as pool:
        running = [pool.submit(task, ordinal, piece) for ordinal, piece in enumerate(pieces)]
    return [one for future in running for one in future.result()]


def new_frame(world: World, source: StreamSource, folder: Path) -> Frame:
    """Return the stream that a script opens."""
    folder.mkdir(parents=True, exist_ok=True)
    process = threads.process()
    own = folder / f"{process.name}-{process.pid}"
    own.mkdir(exist_ok=True)
    return Frame(Session(world), source.in_folder(own), Handover(own))
