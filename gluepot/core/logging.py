"""Structured logs on stderr: one event with key-values per line, for our own modules as well as Py4J and PySpark.

Every line has the keys `ts` (ISO, UTC), `level`, `logger`, `msg`; then `job`, `run_id`, `query`, `batch`, `stream` if
they are known.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TextIO

from gluepot.core.plain_structlog import structlog  # isort: skip  before the other imports of it
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.typing import EventDict, ExcInfo, FilteringBoundLogger, Processor, WrappedLogger

from gluepot.core.errors import ConfigError
from gluepot.core.masking import mask

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

# We leave the root logger to the script: if it had a handler, the script's `logging.basicConfig` would do nothing.
FOREIGN_LOGGERS = ("py4j", "pyspark")

# Py4J tells an error of the function that Spark calls for a batch. The query tells the same error, with what follows.
_CALLBACK_FAILED = "There was an exception while executing the Python Proxy"

# On a terminal these values keep their line breaks; any other value is one line.
_OF_SEVERAL_LINES = frozenset({"exception", "stack"})

_NAME = "logger_name"  # `logger` is an argument of structlog's own

_process_context: dict[str, object] = {}
_listeners: list[Callable[[EventDict], None]] = []


def configure(*, json: bool | None = None, level: str = "INFO", verbose: bool = False) -> None:
    """Send all logs to stderr in one format. Calling it again replaces the former configuration.

    Args:
        json: JSON lines, or lines for people; None means JSON unless stderr is a terminal.
        level: the lowest level of our own lines that appears; lines of others appear from WARNING on.
        verbose: whether lines have stack traces; otherwise an exception is one key, `error`.

    Raises:
        ConfigError: unknown level.
    """
    if level.upper() not in LEVELS:
        raise ConfigError(f"log level {level!r} is not known; use one of {', '.join(LEVELS)}")
    as_json = not sys.stderr.isatty() if json is None else json
    ours, foreign = _before_rendering(verbose=verbose), [structlog.stdlib.add_logger_name]
    rendering = _rendering(as_json=as_json)
    structlog.configure(
        processors=[*ours, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_stderr_logger,
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*foreign, *ours],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
    )
    handler = _CurrentStderrHandler()
    handler.setFormatter(formatter)
    if not verbose:
        handler.addFilter(lambda record: not record.getMessage().startswith(_CALLBACK_FAILED))
    for name in FOREIGN_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.WARNING)
        logger.propagate = False


def configure_once() -> None:
    """Configure logging with the defaults, unless it is configured. This serves scripts run without `gluepot run`."""
    if not structlog.is_configured():
        configure()


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a logger. It follows `configure` even if that is called later.

    It has `info`, `warn` and `error(msg)`, which is what AWS documents for `GlueContext.get_logger()`.
    """
    logger: FilteringBoundLogger = structlog.get_logger(**{_NAME: name})
    return logger


def bind_process(**values: object) -> None:
    """Add keys to every line of this process, in all threads: `job`, `run_id`."""
    _process_context.update(values)


def bind_context(**values: object) -> AbstractContextManager[None]:
    """Add `query`, `batch`, `stream` to the lines of this thread while the returned context is open."""
    return bound_contextvars(**values)


@contextmanager
def heard_by(listener: Callable[[EventDict], None]) -> Iterator[None]:
    """Pass every line also to a listener while this is open, as values with masked secrets. It must not log or wait."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _before_rendering(*, verbose: bool) -> list[Processor]:
    return [
        structlog.processors.add_log_level,
        _name_logger,
        _merge_process_context,
        merge_contextvars,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.format_exc_info if verbose else _error_in_one_line,
        _mask_secrets,
        _tell_listeners,
    ]


def _rendering(*, as_json: bool) -> list[Processor]:
    if as_json:
        return [structlog.processors.EventRenamer("msg"), structlog.processors.JSONRenderer()]
    # Tracebacks are plain, because structlog's rich ones show local variables and with them passwords.
    return [
        _escape_for_terminal,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            timestamp_key="ts",
            exception_formatter=structlog.dev.plain_traceback,
        ),
    ]


def _escape_for_terminal(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape control characters, so that text of a record or an error cannot move the cursor or forge a log line."""
    return {_escaped(name): _shown(name, value) for name, value in event.items()}


def _shown(name: str, value: object) -> object:
    if name in _OF_SEVERAL_LINES and isinstance(value, str):
        return "\n".join(_escaped(line.replace("\t", "    ")) for line in value.split("\n"))
    return _escaped(value) if isinstance(value, str) else value  # structlog writes any other value as its repr


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


class _LineWriter(structlog.PrintLogger):
    """Writes lines, and ignores failures: a full disk or a closed pipe behind stderr must not end a job."""

    def msg(self, message: str) -> None:
        """Write a line, or drop it if that fails."""
        with suppress(OSError, ValueError):  # ValueError if the file is closed
            super().msg(message)

    log = debug = info = warn = warning = fatal = failure = err = error = critical = exception = msg


def _stderr_logger(*_: object) -> _LineWriter:
    return _LineWriter(sys.stderr)


class _CurrentStderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`, because the live view replaces it to show log lines above itself."""

    def emit(self, record: logging.LogRecord) -> None:
        self.setStream(sys.stderr)
        super().emit(record)


def _name_logger(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    if _NAME in event:
        event["logger"] = event.pop(_NAME)
    return event


def _merge_process_context(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for name, value in _process_context.items():
        event.setdefault(name, value)
    return event


def _mask_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return mask(event)


def _tell_listeners(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for listener in _listeners:
        with suppress(Exception):  # a failing listener must not affect the code that logs
            listener(dict(event))
    return event


def _error_in_one_line(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    error = _exception(event.pop("exc_info", None))
    if error is not None:
        event["error"] = f"{type(error).__name__}: {error}"
    return event


def _exception(exc_info: ExcInfo | BaseException | bool | None) -> BaseException | None:
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        return exc_info[1]
    return sys.exc_info()[1] if exc_info else None
