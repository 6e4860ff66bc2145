"""The log files of runs: puts them into the index of log streams, and reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from gluepot.service.decisions.log_streams import LogEvent, LogStream, LogText, grown, streams_of
from gluepot.service.decisions.states import OPEN
from gluepot.service.log_events import read_events, tail_offset
from gluepot.service.store.database import Store

RUNS_AT_ONCE, BYTES_AT_ONCE = 500, 4_000_000
"""How many runs, and how much text of them, are looked at before something else is done."""


@dataclass(frozen=True, slots=True)
class RunLogs:
    """The log files of runs at this place.

    Args:
        store: has the index.
        run_folder: returns the folder of a run.
        place: the name of this place.
    """

    store: Store
    run_folder: Callable[[str], Path]
    place: str
    _lock: Lock = field(default_factory=Lock, compare=False)

    def catch_up(self, ids: Sequence[str] = (), most: int = RUNS_AT_ONCE) -> bool:
        """Put what log files have got since the last call into the index; return whether there may be more.

        Args:
            ids: only these runs; empty for all that may have more text, the newest of them first.
            most: how many runs are looked at.
        """
        with self._lock:
            with self.store.changes() as changes:
                runs = changes.runs_to_log(self.place, most, ids)
                known = {(one.group, one.number): one for one in changes.logs.of_numbers([run.number for run in runs])}
            changed, done, left = [], [], BYTES_AT_ONCE
            for run in runs:
                # A run that had ended before its files are looked at writes nothing more.
                has_ended = run.state not in OPEN
                for new in streams_of(run):
                    before = known.get((new.group, new.number))
                    after = self._looked_at(before or new, left, has_ended=has_ended)
                    left -= after.size - (before.size if before else 0)
                    if after not in {before, new}:
                        changed.append(after)
                if has_ended and left > 0:
                    done.append(run.id)
                if left <= 0:
                    break
            if changed or done:
                with self.store.changes() as changes:
                    there = changes.run_numbers([run.id for run in runs])  # without those that were removed meanwhile
                    changes.logs.save([one for one in changed if one.number in there], known)
                    changes.mark_logged(done)
        return left <= 0 or len(done) == most

    def events(self, text: LogText, offset: int, carried_ms: int) -> list[LogEvent]:
        """Return the next lines of a log, a megabyte of them at most.

        Args:
            text: of the log.
            offset: where to begin, in bytes.
            carried_ms: the time of lines before the first one that tells its own.
        """
        return list(read_events(self._path(text), offset, carried_ms, has_ended=text.has_ended))

    def tail_offset(self, text: LogText, end: int | None = None, most_bytes: int | None = None) -> int:
        """Return the begin of the first whole line in the last bytes of a log.

        Args:
            text: of the log.
            end: the end of these bytes; None for that of the text.
            most_bytes: how many bytes; None for a megabyte.
        """
        return tail_offset(self._path(text), end, most_bytes)

    def _looked_at(self, stream: LogStream, most_bytes: int, *, has_ended: bool) -> LogStream:
        """Return a stream with the times of what its file has got."""
        path = self._path(stream.text)
        try:
            status = path.stat()
        except FileNotFoundError:
            return stream
        begin = stream.size
        stream = grown(stream, [], round(status.st_mtime * 1000))
        while stream.size < status.st_size and stream.size - begin < most_bytes:
            events = list(read_events(path, stream.size, stream.carried_ms, has_ended=has_ended))
            if not events:
                break
            stream = grown(stream, events, stream.written_ms)
        return replace(stream, is_open=not (has_ended and stream.size >= status.st_size))

    def _path(self, text: LogText) -> Path:
        return self.run_folder(text.run) / text.file
