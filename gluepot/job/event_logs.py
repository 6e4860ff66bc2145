"""Spark's event log of a run (`--enable-spark-ui`), which Spark's history server shows when the run is over.

Spark's Java classes for S3 are no part of PySpark. For a folder on S3 Spark therefore writes to this machine, and a
thread copies the files, as AWS Glue does, every 30 seconds and at the end.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.core.private import make_private_folder
from gluepot.core.storage import Storage, open_storage
from gluepot.core.storage.urls import LocalRoot, parse_url

EVERY_SECS = 30.0

log = get_logger(__name__)


@contextmanager
def event_log(url: str) -> Iterator[str]:
    """Yield the local folder for Spark; at the end, when Spark has stopped, everything is where it belongs.

    A log that cannot be copied is a warning, and the run goes on.

    Args:
        url: of the folder for the logs, local or `s3://`.

    Raises:
        ConfigError: the URL has another scheme.
        OSError: a local folder cannot be made.
    """
    match parse_url(url):
        case LocalRoot(path):
            make_private_folder(path)
            yield str(path.absolute())
            return
    storage = open_storage(url)
    folder, ended = Path(tempfile.mkdtemp(prefix="gluepot-events-")), threading.Event()
    upload = Upload(folder, storage)

    def copy_until_the_end() -> None:
        while not ended.wait(EVERY_SECS):
            _tried(upload)

    thread = threading.Thread(target=copy_until_the_end, name="gluepot-event-log", daemon=True)
    thread.start()
    try:
        yield str(folder)
    finally:
        ended.set()
        thread.join()
        _tried(upload)
        shutil.rmtree(folder, ignore_errors=True)


def _tried(upload: Upload) -> None:
    try:
        upload.refresh()
    except (EtlError, OSError) as error:
        log.warning("event_log_not_copied", url=upload.url, reason=str(error))


class Upload:
    """Copies the files of a folder that grow, are renamed and are removed.

    Args:
        folder: the files.
        storage: takes the copies.
    """

    def __init__(self, folder: Path, storage: Storage) -> None:
        self._folder = folder
        self._storage = storage
        self._copied: dict[str, tuple[int, int]] = {}

    @property
    def url(self) -> str:
        """Of the copies."""
        return self._storage.url

    def refresh(self) -> None:
        """Copy what has changed since the last time, then remove copies of files that have other names now.

        Raises:
            EtlError: the storage refuses, or does not answer.
            OSError: a file cannot be read.
        """
        there = {}
        for path in [path for path in self._folder.rglob("[!.]*") if path.is_file()]:
            found = path.stat()
            there[str(path.relative_to(self._folder))] = (found.st_size, found.st_mtime_ns)
        for key, state in there.items():
            if self._copied.get(key) != state:
                self._storage.put(key, (self._folder / key).read_bytes())
                self._copied[key] = state
        gone = self._copied.keys() - there.keys()
        self._storage.delete(gone)
        for key in gone:
            del self._copied[key]
