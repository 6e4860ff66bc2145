"""Which files one task reads together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from gluepot.connectors.files.source.versions import FileVersion
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.option_values import number

IN_PARTITION, ACROSS_PARTITION, NONE = "inPartition", "acrossPartition", "none"
_NAMES = (IN_PARTITION, ACROSS_PARTITION, NONE)

# Spark's own numbers: the most a task reads, and what opening a file costs in bytes read meanwhile.
_MOST_BYTES = 128 << 20
_OPEN_COST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of one task, in the order they are read.

    Args:
        files: whole ones, or one of which this is a piece.
        piece: first byte and the one after the last; None for whole files. Records belong to where they begin.
    """

    files: tuple[FileVersion, ...]
    piece: tuple[int, int] | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them, compressed."""
        return self.piece[1] - self.piece[0] if self.piece else sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """What a script may say about it.

    Args:
        within: `inPartition`: files of different folders stay apart; `acrossPartition`: they need not;
            `none`: each file is a task.
        size_bytes: of a group; None computes it from all files and the number of tasks that run at once.
    """

    within: str = ACROSS_PARTITION
    size_bytes: int | None = None

    @classmethod
    def from_glue(cls, options: dict[str, object]) -> GroupOptions:
        """Read `groupFiles` and `groupSize`.

        Raises:
            ConfigError: one of them is not understood.
        """
        given = str(options.get("groupFiles") or ACROSS_PARTITION)
        known = {name.lower(): name for name in _NAMES}
        if given.lower() not in known:
            raise ConfigError(f"groupFiles is {given!r}; use one of {', '.join(_NAMES)}.{did_you_mean(given, _NAMES)}")
        return cls(known[given.lower()], number(options, "groupSize"))


def grouped(
    files: Sequence[FileVersion],
    options: GroupOptions,
    parallelism: int,
    splits: Callable[[FileVersion], bool] = lambda _: False,
) -> tuple[FileGroup, ...]:
    """Return the files as groups, each file in exactly one, or in pieces that are groups; no files, no groups.

    Args:
        files: in any order.
        options: the script's; the size of a group is that of a piece, too.
        parallelism: tasks that run at once.
        splits: whether a file can be read in pieces.
    """
    in_order = sorted(files, key=lambda one: (one.folder, one.name))
    limit = options.size_bytes or _target_bytes(in_order, parallelism)
    large = [file for file in in_order if file.size_bytes > 2 * max(limit, _OPEN_COST_BYTES) and splits(file)]
    cut = frozenset(large)
    whole = [file for file in in_order if file not in cut]
    pieces = tuple(piece for file in large for piece in _pieces(file, max(limit, _OPEN_COST_BYTES)))
    if options.within == NONE:
        return (*pieces, *(FileGroup((file,)) for file in whole))
    if options.within == ACROSS_PARTITION:
        return (*pieces, *_packed(whole, limit))
    folders = groupby(whole, key=lambda one: one.folder)
    return (*pieces, *(group for _, inside in folders for group in _packed(list(inside), limit)))


def _pieces(file: FileVersion, limit_bytes: int) -> Iterator[FileGroup]:
    """Yield pieces of nearly equal size, none above the limit."""
    count = -(-file.size_bytes // limit_bytes)
    cuts = [file.size_bytes * n // count for n in range(count + 1)]
    return (FileGroup((file,), piece) for piece in pairwise(cuts))


def _target_bytes(files: Sequence[FileVersion], parallelism: int) -> int:
    total = sum(file.size_bytes + _OPEN_COST_BYTES for file in files)
    return min(_MOST_BYTES, max(_OPEN_COST_BYTES, total // max(1, parallelism)))


def _packed(files: Sequence[FileVersion], limit_bytes: int) -> Iterator[FileGroup]:
    held: list[FileVersion] = []
    cost_bytes = 0
    for file in files:
        cost = file.size_bytes + _OPEN_COST_BYTES
        if held and cost_bytes + cost > max(limit_bytes, _OPEN_COST_BYTES):
            yield FileGroup(tuple(held))
            held, cost_bytes = [], 0
        held.append(file)
        cost_bytes += cost
    if held:
        yield FileGroup(tuple(held))
