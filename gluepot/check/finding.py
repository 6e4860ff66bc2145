"""The results of a check, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """The severity of a finding."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_SUPPORTED = "not supported"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about one line.

    Args:
        line: number of the line, from 1.
        level: severity of the finding.
        name: the call as Glue names it, or the name of a rule.
        message: an explanation; empty for a call that is fully supported.
    """

    line: int
    level: Level
    name: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings about one script.

    Args:
        script: name of the script.
        findings: the findings, sorted by line.
    """

    script: str
    findings: tuple[Finding, ...]

    def at(self, level: Level) -> list[Finding]:
        """Return the findings of a level."""
        return [finding for finding in self.findings if finding.level is level]

    def lines(self) -> list[str]:
        """Return the report as text: one line for each finding, and a last line with their numbers."""
        lines = [
            f"{self.script}:{one.line}: {one.level.value}: {one.name}" + (f": {one.message}" if one.message else "")
            for one in self.findings
        ]
        counts = ", ".join(f"{len(self.at(level))} {level.value}" for level in Level)
        return [*lines, f"{self.script}: {counts}"]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return asdict(self)
