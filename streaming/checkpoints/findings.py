"""The results of a diagnosis: findings and safe repairs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nothing:
    """No repair: there is no safe one, or none is needed."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A repair that moves files into the backup folder and ignores files that do not exist."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A repair that restores the proven contents of a file; the present file goes into the backup folder.

    Args:
        file: the key of the file.
        data: the contents to write.
    """

    file: str
    data: bytes


Repair = Nothing | SetAside | Rewrite


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a checkpoint.

    Args:
        file: key of the file, relative to the checkpoint.
        what: the fault, as a clause that follows the file's name.
        blocks: whether a query that started now would fail, skip records or repeat them.
        repair: the repair that loses and duplicates no record in our own sinks.
        then: the effect of the repair, or what a person can do; a clause or a command.
    """

    file: str
    what: str
    blocks: bool = False
    repair: Repair = Nothing()
    then: str = ""

    def sentence(self, location: str) -> str:
        """Return the message for a person who starts a job: file, fault, remedy."""
        fault = f"The checkpoint file {location}/{self.file} {self.what}"
        if not isinstance(self.repair, Nothing):
            return f"{fault}; run `gluepot checkpoint doctor {location} --repair`: {self.then}."
        return f"{fault}; {self.then or 'nothing needs to be done'}."
