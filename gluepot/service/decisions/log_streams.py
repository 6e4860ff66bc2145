"""Log streams: which ones a run writes, and the range of times that is known of each. Pure (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gluepot.core.job_parameters import is_on
from gluepot.service.decisions.definitions import is_python_shell, is_quality_run
from gluepot.service.decisions.states import OPEN, Run, crawler_of, effective_arguments

OUTPUT, ERROR = "output.log", "error.log"
"""The log files in the folder of a run."""
JOBS, SHELL_JOBS, QUALITY, CRAWLERS = (
    "/aws-glue/jobs",
    "/aws-glue/python-jobs",
    "/aws-glue/data-quality",
    "/aws-glue/crawlers",
)
CONTINUOUS = "/aws-glue/jobs/logs-v2"
"""The group of runs with continuous logging."""
_DRIVER = "-driver"
_KINDS = {"output": OUTPUT, "error": ERROR}
FILES = {f"{group}/{kind}": file for group in (JOBS, SHELL_JOBS, QUALITY) for kind, file in _KINDS.items()} | {
    CRAWLERS: OUTPUT,
    CONTINUOUS: ERROR,
}
"""The groups of runs, and the log file that each of them shows."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """An event: a line of a file, or what a client has put.

    Args:
        offset: where it begins: in bytes of a file, or in events of a client's stream.
        end: where the next one begins.
        at_ms: when it was written, as well as that is known, in milliseconds since 1970.
        message: the line.
    """

    offset: int
    end: int
    at_ms: int
    message: str

    @property
    def size(self) -> int:
        """How much text it has, in bytes or characters."""
        return max(self.end - self.offset, len(self.message))


@dataclass(frozen=True, slots=True)
class LogText:
    """Where the text of a log is: in a file of a run, or in the database.

    Args:
        group: of the stream that has it in the database; empty if it is only in a file.
        number: of this stream.
        run: the run that writes it; empty for text of clients.
        file: the name of the file in the folder of the run.
        place: where this folder is; empty for a run that no service has taken.
        has_ended: whether nothing more is written.
    """

    group: str
    number: int
    run: str
    file: str
    place: str
    has_ended: bool


@dataclass(frozen=True, slots=True)
class LogStream:
    """A log stream, as the index has it.

    Args:
        group: the log group.
        number: its place in the order of the group's streams; that of the run.
        name: unique in the group.
        run: the run whose log it is.
        place: where its file is; empty for a run that no service has taken.
        created_ms: when it began, in milliseconds since 1970: the time of lines before one tells its own.
        first_ms: the earliest time of the text that was looked at.
        last_ms: the latest time of this text.
        written_ms: when text was added last.
        size: how much text was looked at, in bytes.
        carried_ms: the time of lines behind this text, until one tells its own.
        is_open: whether more text may follow.
    """

    group: str
    number: int
    name: str
    run: str
    place: str
    created_ms: int
    first_ms: int
    last_ms: int
    written_ms: int
    size: int
    carried_ms: int
    is_open: bool

    @property
    def text(self) -> LogText:
        """Where its text is."""
        # What the streams of continuous logging show is that of the errors.
        group = f"{JOBS}/error" if self.group == CONTINUOUS else self.group
        return LogText(group, self.number, self.run, FILES.get(group, ""), self.place, has_ended=not self.is_open)


@dataclass(frozen=True, slots=True)
class Window:
    """A range of times.

    Args:
        begin_ms: the first millisecond.
        end_ms: the first millisecond after it; None if it has no end.
    """

    begin_ms: int = 0
    end_ms: int | None = None

    def has(self, at_ms: int) -> bool:
        """Return whether a moment is in the range."""
        return self.begin_ms <= at_ms and (self.end_ms is None or at_ms < self.end_ms)


def streams_of(run: Run) -> list[LogStream]:
    """Return the streams that a run may write, before any text was looked at. A crawl writes that of its crawler."""
    crawler = crawler_of(run.job)
    if crawler is not None:
        return [_new(run, CRAWLERS, crawler)]
    streams = [_new(run, f"{group_prefix(run)}/{kind}", run.id) for kind in _KINDS]
    if group_prefix(run) == JOBS and is_on(effective_arguments(run).get("--enable-continuous-cloudwatch-log")):
        streams.append(_new(run, CONTINUOUS, run.id + _DRIVER))
    return streams


def run_of_stream(group: str, name: str) -> str:
    """Return the id of the run that writes a stream; groups of crawlers name none."""
    return name.removesuffix(_DRIVER) if group == CONTINUOUS else name


def text_of(run: Run, file: str) -> LogText:
    """Return the text of a log file of a run."""
    for stream in streams_of(run):
        if FILES[stream.group] == file:
            return replace(stream.text, has_ended=run.state not in OPEN)
    return LogText("", run.number, run.id, file, run.place, has_ended=run.state not in OPEN)


def group_prefix(run: Run) -> str:
    """Return the name with which the names of the run's log groups begin."""
    if is_quality_run(run.definition):
        return QUALITY
    return SHELL_JOBS if is_python_shell(run.definition) else JOBS


def grown(stream: LogStream, events: Sequence[LogEvent], written_ms: int) -> LogStream:
    """Return a stream after more of its text was looked at.

    Args:
        stream: before.
        events: the lines that follow; they may be none.
        written_ms: when text was added last.
    """
    if not events:
        return replace(stream, written_ms=written_ms)
    after = spanning(stream, [event.at_ms for event in events])
    return replace(after, written_ms=written_ms, size=events[-1].end, carried_ms=events[-1].at_ms)


def spanning(stream: LogStream, times: Sequence[int]) -> LogStream:
    """Return a stream whose range of times has these, too; there is at least one."""
    known = [stream.first_ms, stream.last_ms] if stream.size else []
    return replace(stream, first_ms=min([*known, *times]), last_ms=max([*known, *times]))


def _new(run: Run, group: str, name: str) -> LogStream:
    at_ms = run.started_ms
    return LogStream(group, run.number, name, run.id, run.place, at_ms, at_ms, at_ms, at_ms, 0, at_ms, is_open=True)
