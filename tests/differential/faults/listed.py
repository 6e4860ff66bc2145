"""The lists of deliberate faults."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Each list of faults, with what its faults are in.
LISTS = {
    "faults.toml": "translators, casts and decoders",
    "databases.toml": "databases and fitting",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong version of a file.

    Args:
        name: what is wrong, in a few words.
        kind: the kind of differential test that should notice it.
        file: the file, from the root of the repository.
        old: a text that occurs once in the file.
        new: what stands there in the wrong version.
        part: what the faults of its list are in.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    part: str

    def applied(self, text: str) -> str:
        """Return the wrong version of the text of the file.

        Raises:
            ValueError: the text that the fault replaces does not occur exactly once.
        """
        count = text.count(self.old)
        if count != 1:
            raise ValueError(
                f"The fault '{self.name}' replaces a text that occurs {count} times in {self.file}; correct its `old` in"
                " the list."
            )
        return text.replace(self.old, self.new)


def faults() -> Sequence[Fault]:
    """Return the faults of all lists."""
    return [
        Fault(**each, part=part)
        for name, part in LISTS.items()
        for each in tomllib.loads(Path(__file__).with_name(name).read_text())["fault"]
    ]
