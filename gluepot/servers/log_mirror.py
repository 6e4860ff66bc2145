"""Runs a server on a copy of files that are on S3: `python -m gluepot.servers.log_mirror URL FOLDER COMMAND...`.

Spark's Java classes for S3 are no part of PySpark, so Spark's history server reads a copy.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from gluepot.core.errors import EtlError
from gluepot.core.logging import configure, get_logger
from gluepot.core.storage import Entry, SourceStorage, VersionGone, open_source
from gluepot.servers.supervisor import die_with_parent, end

EVERY_SECS = 5.0

log = get_logger(__name__)


class Mirror:
    """A local copy of the files below a root.

    Args:
        source: the files.
        folder: takes the copies, and holds nothing else.
    """

    def __init__(self, source: SourceStorage, folder: Path) -> None:
        self._source = source
        self._folder = folder
        self._copied: dict[str, Entry] = {}

    def refresh(self) -> None:
        """Copy what is new or has changed, and remove what is gone.

        Raises:
            EtlError: the storage does not answer, or refuses.
        """
        found = {entry.key: entry for entry in self._source.tree("") if entry.name}
        for path in [path for path in self._folder.rglob("*") if path.is_file()]:
            if str(path.relative_to(self._folder)) not in found:
                path.unlink()
        for key, entry in found.items():
            if self._copied.get(key) != entry:
                with contextlib.suppress(VersionGone):  # the next look finds the new version
                    self._copy(entry)
                    self._copied[key] = entry

    def _copy(self, entry: Entry) -> None:
        path, partial = self._folder / entry.key, self._folder.with_suffix(".partial")
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._source.open(entry) as content, partial.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        partial.replace(path)


def run(url: str, folder: Path, command: list[str]) -> int:
    """Run the command until it ends or a SIGTERM arrives, and keep the copy fresh; return its exit code."""
    source, asked_to_end = open_source(url), False
    mirror = Mirror(source, folder)

    def on_sigterm(_signal: int, _frame: object) -> None:
        nonlocal asked_to_end
        asked_to_end = True

    signal.signal(signal.SIGTERM, on_sigterm)
    source.level("")  # if the storage refuses, the server ends, and its log tells why
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)  # noqa: PLW1509  one thread
    while not asked_to_end:
        try:
            mirror.refresh()
        except EtlError as error:
            log.warning("event_logs_not_copied", url=url, reason=str(error))
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=EVERY_SECS)
    return end(child)


if __name__ == "__main__":
    configure()
    sys.exit(run(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
