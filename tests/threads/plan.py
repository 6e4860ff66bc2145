"""What the threads of one try do, drawn from its seed. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

TOPICS = 5
MOST_THREADS = 5

Work = Literal["write", "count", "sql", "two", "checked", "catalogued"]
Fault = Literal["", "opened", "function", "options"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A thread that opens a stream and reads it to its end.

    Args:
        topic: the number of its topic; several threads may read one topic.
        from_catalog: whether the stream is a table of the catalog.
        is_declared: whether the stream has a schema.
        work: what its batch function does.
        own_context: whether the thread makes a GlueContext for itself.
        files: whether it also copies files outside of the stream.
        in_pool: whether it is a task of a pool, whose result nobody asks for.
        fault: where it fails on purpose: after it has opened its stream, in its function, or with a wrong option.
    """

    topic: int
    from_catalog: bool
    is_declared: bool
    work: Work
    own_context: bool
    files: bool
    in_pool: bool
    fault: Fault = ""


@dataclass(frozen=True, slots=True)
class Try:
    """A try: its threads, and whether the catalog is there before they start."""

    seed: int
    has_catalog: bool
    readers: tuple[Reader, ...]

    @property
    def must_fail(self) -> bool:
        """Whether a thread fails on purpose."""
        return any(reader.fault for reader in self.readers)


def new_try(seed: int) -> Try:
    """Return the try of a seed."""
    chance = Random(seed)
    has_catalog = chance.random() < 0.5
    readers = [_reader(chance, has_catalog=has_catalog) for _ in range(chance.randint(2, MOST_THREADS))]
    return Try(seed, has_catalog, tuple(readers))


def _reader(chance: Random, *, has_catalog: bool) -> Reader:
    works: list[Work] = ["write", "count", "sql", "two", "checked"]
    if has_catalog:
        works.append("catalogued")
    return Reader(
        topic=chance.randrange(TOPICS),
        from_catalog=has_catalog and chance.random() < 0.5,
        is_declared=chance.random() < 0.5,
        work=chance.choice(works),
        own_context=chance.random() < 0.3,
        files=chance.random() < 0.3,
        in_pool=chance.random() < 0.5,
        fault=chance.choice(["opened", "function", "options"]) if chance.random() < 0.05 else "",
    )
