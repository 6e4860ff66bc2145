"""The list of deliberate faults."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
_LIST = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong version of a file.

    Args:
        name: what is wrong, in a few words.
        kind: the kind of differential test that should notice it.
        file: the file, from the root of the repository.
        old: a text that occurs once in the file.
        new: what stands there in the wrong version.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """Return the wrong version of the text of the file.

        Raises:
            ValueError: the text that the fault replaces does not occur exactly once.
        """
        count = text.count(self.old)
        if count != 1:
            raise ValueError(
                f"The fault '{self.name}' replaces a text that occurs {count} times in {self.file}; correct its `old` in"
                " faults.toml."
            )
        return text.replace(self.old, self.new)


def faults() -> Sequence[Fault]:
    """Return all faults."""
    return [Fault(**one) for one in tomllib.loads(_LIST.read_text())["fault"]]
