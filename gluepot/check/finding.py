"""What a check has to say, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How much a finding matters."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_SUPPORTED = "not supported"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one line.

    Args:
        line: from 1.
        level: how much it matters.
        name: the call in Glue's words, or the name of a rule.
        message: what to know about it; empty for a call that is simply supported.
    """

    line: int
    level: Level
    name: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All there is to say of one script.

    Args:
        script: its name.
        findings: by line.
    """

    script: str
    findings: tuple[Finding, ...]

    def at(self, level: Level) -> list[Finding]:
        """Return the findings of a level."""
        return [finding for finding in self.findings if finding.level is level]

    def lines(self) -> list[str]:
        """Return the report as text, a line a finding and one that counts them."""
        told = [
            f"{self.script}:{one.line}: {one.level.value}: {one.name}" + (f": {one.message}" if one.message else "")
            for one in self.findings
        ]
        counts = ", ".join(f"{len(self.at(level))} {level.value}" for level in Level)
        return [*told, f"{self.script}: {counts}"]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return asdict(self)
