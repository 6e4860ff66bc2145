"""What a diagnosis consists of: findings, and the repairs that are safe."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no safe repair, or none is needed."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """Move files into the backup folder; those that are not there are left out."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Put a file as it is proven to have been; what is there now goes into the backup folder.

    Args:
        file: its key.
        data: its contents.
    """

    file: str
    data: bytes


Repair = Nothing | SetAside | Rewrite


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Args:
        file: key of the file, relative to the checkpoint.
        what: a clause that follows the file's name.
        blocks: a query that started now would fail, skip records or repeat them.
        repair: what makes it right without losing or doubling a record of our own sinks.
        then: what the repair comes to, or what a person can do; a clause or a command.
    """

    file: str
    what: str
    blocks: bool = False
    repair: Repair = Nothing()
    then: str = ""

    def sentence(self, location: str) -> str:
        """Return it for a person who starts a job: file, fault, remedy."""
        fault = f"The checkpoint file {location}/{self.file} {self.what}"
        if not isinstance(self.repair, Nothing):
            return f"{fault}; run `gluepot checkpoint doctor {location} --repair`: {self.then}."
        return f"{fault}; {self.then or 'nothing needs to be done'}."
