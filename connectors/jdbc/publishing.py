"""What a write to a table needs from the database: the contract that each kind of database keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from gluepot.connectors.contracts import TaskSink
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import CommitKey, StagedFile

T = TypeVar("T")

COMMITS = "gluepot_commits"
REJECTS = "gluepot_rejects"
REFUSED = "refused_by_store"
"""The reason of a row that the database refuses; its message is what the database says."""
KEPT_BATCHES = 10_000
"""How many batches back a replay is recognised; the record of an older one makes room."""


@dataclass(frozen=True, slots=True)
class TableName:
    """The name of a table, as the server quotes it.

    Args:
        schema: name of its schema.
        table: its own name.
        exists: whether the table exists.
        primary_key: columns of its primary key, if an upsert finds rows by them; empty if it names its own keys.
    """

    schema: str
    table: str
    exists: bool
    primary_key: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        """The name with its schema, for a statement."""
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class Published:
    """A recorded commit.

    Args:
        record: text of the commit's record.
        xact: what the database marks the rows with: the number of the transaction that wrote them, or the first number
            that AUTO_INCREMENT gave them; 0 for nothing.
    """

    record: str
    xact: int = 0


class Superseding(Enum):
    """What becomes of the rows of an earlier try when another try of the same write has other rows."""

    LEAVE = "leave"
    """Nothing: there are none, or the write empties the table."""
    TAKE_BACK = "take back"
    """The rows of an append are removed."""
    UPSERT_AGAIN = "upsert again"
    """Each row is replaced by the one of this try with the same key, so the keys must be the same."""
    IMPOSSIBLE = "impossible"
    """Nobody knows which rows the earlier try replaced or deleted."""


def superseding(before: Mode, now: Mode, rows: int) -> Superseding:
    """Decide what becomes of the rows of an earlier try.

    Args:
        before: what the earlier try did with the rows of the table.
        now: what this try does with them.
        rows: how many rows the earlier try wrote.
    """
    if now is Mode.OVERWRITE:
        return Superseding.LEAVE
    if before is Mode.OVERWRITE:
        return Superseding.IMPOSSIBLE
    if not rows:
        return Superseding.LEAVE
    if before is Mode.APPEND:
        return Superseding.TAKE_BACK
    return Superseding.UPSERT_AGAIN if now is Mode.UPSERT else Superseding.IMPOSSIBLE


class Publication(Protocol):
    """A transaction in which one write is published: all of it, or nothing."""

    @property
    def settings(self) -> JdbcWriteSettings:
        """The settings from the script."""

    def published(self) -> Published | None:
        """Return the commit that was published under the key; None if there is none."""

    def record(self, record: str) -> None:
        """Record what this transaction publishes, in place of an earlier record under the same key."""

    def renew(self, record: str, before: Published) -> None:
        """Replace the existing record; the rows remain those that `before` names."""

    def take_back(self, before: Published, rows: int) -> None:
        """Remove the rows that an earlier try of the same write appended.

        Raises:
            PermanentError: some of the rows were changed or deleted.
        """

    def left_over(self, before: Published) -> int | None:
        """Return how many rows of the table are still as an earlier try of this write upserted them.

        None if the database cannot tell.
        """

    def forget_rejects(self) -> None:
        """Remove the rejects of an earlier try of the same write."""

    def move(self, staged: Sequence[StagedFile], *, may_repeat: bool) -> Mapping[str, int]:
        """Move staged rows into the table according to the mode, and create the table if it does not exist.

        Args:
            staged: what the tasks have staged.
            may_repeat: whether another try of the write may come, which takes these rows back.

        Returns:
            How many rows of a staging table, by its name, are among the rejects now because the database refuses them.

        Raises:
            ConfigError: a column, or the key of an upsert, is missing in the table; a value does not fit its column.
        """

    def act(self, statements: str) -> None:
        """Run the script's own statements."""

    def drop(self, staged: Sequence[StagedFile]) -> None:
        """Remove what was staged for this write."""


class TableDatabase(Protocol):
    """A database in which a write is published by one transaction, which also records it."""

    def find(self) -> TableName:
        """Find the table, and create our own tables in the same schema.

        Raises:
            ConfigError: the schema does not exist, or the user may not create tables in it.
            TransientError: the server cannot be reached.
        """

    def sink(self, key: CommitKey, name: TableName) -> TaskSink:
        """Return what stages rows for the table, in the tasks."""

    def publication(self, key: CommitKey, name: TableName) -> AbstractContextManager[Publication]:
        """Open the transaction of a write; transactions of the same batch run one after the other.

        Raises:
            TransientError: the server cannot be reached.
            ConfigError: the user lacks a permission.
        """

    def drop_staged(self, key: CommitKey, name: TableName) -> None:
        """Remove what was staged for one write, including for its other batches."""


@contextmanager
def opened_when_needed(open_one: Callable[[], AbstractContextManager[T]]) -> Iterator[Callable[[], T]]:
    """Yield a function that opens something at its first call, and returns the same one afterwards.

    It is closed at the end of the block. Databases that commit whenever a table is made use it for a connection beside
    that of the transaction.
    """
    with ExitStack() as stack:
        opened: list[T] = []

        def one() -> T:
            if not opened:
                opened.append(stack.enter_context(open_one()))
            return opened[0]

        yield one
