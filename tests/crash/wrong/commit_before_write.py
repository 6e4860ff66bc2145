"""The product, wrong: a batch is done when its write is noted down, and written when the next one begins."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from awsglue.job import Job
from gluepot.cli.main import main
from gluepot.engine.writer import TableWriter

right = TableWriter.write
put_off: list[Callable[[], object]] = []


def write_what_is_put_off() -> None:
    while put_off:
        put_off.pop(0)()


def note_down(*args: Any) -> None:
    write_what_is_put_off()
    context = copy_context()  # it holds the batch
    put_off.append(lambda: context.run(right, *args))


def commit(self: Job) -> None:
    write_what_is_put_off()


if __name__ == "__main__":
    TableWriter.write = note_down
    Job.commit = commit
    main()
