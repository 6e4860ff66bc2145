"""The log files of runs: puts them into the index of log streams, and reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from gluepot.service.decisions.log_streams import LogEvent, LogStream, LogText, grown, streams_of
from gluepot.service.decisions.states import OPEN
from gluepot.service.log_events import events_in, put_events, read_text, tail_offset
from gluepot.service.store.database import Store
from gluepot.service.store.log_chunks import Chunk

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

    def catch_up(self, ids: Sequence[str] = (), before: int | None = None, most: int = RUNS_AT_ONCE) -> int | None:
        """Put what log files have got since the last call into the index.

        Args:
            ids: only these runs; empty for all that may have more text, the newest of them first.
            before: only runs with smaller numbers; None for all.
            most: how many runs are looked at.

        Returns:
            `before` of the next call, which goes on; None if all runs were looked at.
        """
        with self._lock:
            with self.store.changes() as changes:
                runs = changes.runs_to_log(self.place, most, before, ids)
                known = {(one.group, one.number): one for one in changes.logs.of_numbers([run.number for run in runs])}
                is_shared = changes.is_shared
            changed: list[LogStream] = []
            copies: list[tuple[LogText, Chunk]] = []
            done, left = [], BYTES_AT_ONCE
            following = runs[-1].number if len(runs) == most else None
            for run in runs:
                # A run that had ended before its files are looked at writes nothing more.
                has_ended = run.state not in OPEN
                for new in streams_of(run):
                    old = known.get((new.group, new.number))
                    after, chunks = self._looked_at(old or new, left, has_ended=has_ended)
                    if is_shared and new.text.group == new.group:
                        copies += [(new.text, chunk) for chunk in chunks]
                    left -= after.size - (old.size if old else 0)
                    if after not in {old, new}:
                        changed.append(after)
                if has_ended and left > 0:
                    done.append(run.id)
                if left <= 0:
                    following = run.number + 1
                    break
            if changed or done:
                with self.store.changes() as changes:
                    there = changes.run_numbers([run.id for run in runs])  # without those that were removed meanwhile
                    changes.logs.save([one for one in changed if one.number in there], known)
                    texts = [(text.group, text.number, chunk) for text, chunk in copies if text.number in there]
                    changes.log_chunks.add_first([one for one in texts if one[2].begin == 0])
                    for group, number, chunk in texts:
                        if chunk.begin > 0:
                            changes.log_chunks.add(group, number, chunk)
                    changes.mark_logged(done)
        return following

    def events(self, text: LogText, offset: int, carried_ms: int) -> list[LogEvent]:
        """Return the next events of a log, about a megabyte of them at most.

        Args:
            text: of the log.
            offset: where to begin.
            carried_ms: the time of lines before the first one that tells its own.
        """
        if self._is_here(text):
            content = read_text(self._path(text), offset, has_ended=text.has_ended)
            return list(events_in(content, offset, carried_ms))
        with self.store.changes() as changes:
            chunks = changes.log_chunks.read(text.group, text.number, offset)
        if not chunks:
            return []
        content, begin = b"".join(chunk.content for chunk in chunks), chunks[0].begin
        if text.run:
            return list(events_in(content[offset - begin :], offset, carried_ms))
        return [event for event in put_events(content, begin) if event.offset >= offset]

    def tail_offset(self, text: LogText, end: int | None = None, most_bytes: int = 1_000_000) -> int:
        """Return where about the last bytes of a log begin, at the begin of an event.

        Args:
            text: of the log.
            end: the end of these bytes; None for that of the text.
            most_bytes: how many bytes.
        """
        if self._is_here(text):
            return tail_offset(self._path(text), end, most_bytes)
        with self.store.changes() as changes:
            return changes.log_chunks.tail(text.group, text.number, end, most_bytes)

    def has(self, text: LogText) -> bool:
        """Return whether this service can read a log."""
        if self._is_here(text):
            return self._path(text).exists()
        with self.store.changes() as changes:
            return changes.log_chunks.end(text.group, text.number) > 0

    def _looked_at(self, stream: LogStream, most_bytes: int, *, has_ended: bool) -> tuple[LogStream, list[Chunk]]:
        """Return a stream with the times of what its file has got, and this text."""
        path, chunks = self._path(stream.text), []
        try:
            status = path.stat()
        except FileNotFoundError:
            return stream, []
        begin = stream.size
        stream = grown(stream, [], round(status.st_mtime * 1000))
        while stream.size < status.st_size and stream.size - begin < most_bytes:
            content = read_text(path, stream.size, has_ended=has_ended)
            events = list(events_in(content, stream.size, stream.carried_ms))
            if not events:
                break
            last_ms = max(event.at_ms for event in events)
            chunks.append(Chunk(stream.size, stream.size + len(content), last_ms, content))
            stream = grown(stream, events, stream.written_ms)
        return replace(stream, is_open=not (has_ended and stream.size >= status.st_size)), chunks

    def _is_here(self, text: LogText) -> bool:
        return bool(text.run) and text.place in {"", self.place}

    def _path(self, text: LogText) -> Path:
        return self.run_folder(text.run) / text.file
