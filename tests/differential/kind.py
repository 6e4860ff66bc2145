"""What a kind of differential test is: random cases from a seed, compared with the original."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol, TypeVar

Case = TypeVar("Case")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Difference:
    """A case for which the shortcut and the original give different answers.

    Args:
        case: the smallest form of the case that still differs, as text that a person can run.
        ours: the answer of the shortcut.
        original: the answer of the original.
        explained: the heading in docs/limits.md that explains it; empty if nothing does.
    """

    case: str
    ours: str
    original: str
    explained: str = ""


@dataclass(slots=True)
class Round:
    """The result of one round.

    Args:
        cases: the number of cases that were compared.
        taken: the number of cases in which the shortcut answered instead of declining.
        differences: the cases with different answers.
    """

    cases: int = 0
    taken: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Round) -> None:
        """Add the figures of another round."""
        self.cases += other.cases
        self.taken += other.taken
        self.differences += other.differences


@dataclass(frozen=True, slots=True)
class World:
    """What all kinds share.

    Args:
        spark: makes the Spark session; only called by kinds that need one, and always the same session.
        folder: an empty folder for the files of the round.
        is_search: whether one difference is enough. A round may end at the first one, and need not make it smaller.
        kept: a folder for answers of the original, so that several runs with the same seeds need each only once.
    """

    spark: Callable[[], Any]
    folder: Path
    is_search: bool = False
    kept: Path | None = None

    def answer(self, question: Sequence[object], original: Callable[[], Answer]) -> Answer:
        """Return an answer of the original, from the folder of kept answers if it is there.

        Args:
            question: all that the answer depends on, with a `repr` of its own.
            original: computes the answer.
        """
        if self.kept is None:
            return original()
        path = self.kept / hashlib.sha256(repr(question).encode()).hexdigest()
        if not path.exists():
            path.write_bytes(pickle.dumps(original()))
        found: Answer = pickle.loads(path.read_bytes())
        return found


class Kind(Protocol):
    """A shortcut beside its original. One object serves all rounds of a run."""

    name: str
    """One word, used on the command line."""

    unit: str
    """What `Round.cases` counts, for example "queries" or "values"."""

    def round(self, random: Random, world: World) -> Round:
        """Make random cases, run the shortcut and the original on each, and compare.

        All randomness comes from `random`, so that a seed repeats its round. A round should take a few seconds; kinds
        whose original is slow put many cases into one Spark job.
        """
        ...


def shrink(case: Case, smaller: Callable[[Case], Iterable[Case]], differs: Callable[[Case], bool], tries: int) -> Case:
    """Return a smaller case that still differs, found with at most `tries` calls of `differs`."""
    while True:
        for candidate in smaller(case):
            if tries <= 0:
                return case
            tries -= 1
            if differs(candidate):
                case = candidate
                break
        else:
            return case
