"""The results of a check, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from gluepot.core.plural import counted


class Level(StrEnum):
    """The severity of a finding."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_SUPPORTED = "not supported"
    WARNING = "warning"


class Outcome(StrEnum):
    """What a whole script or job needs before it runs here."""

    UNCHANGED = "runs unchanged"
    NOTES = "runs, with notes"
    LACKING = "runs once something is brought"
    CHANGES = "needs changes"
    UNKNOWN = "script not found"


NOT_FOUND = "no-script"
"""The rule about a job whose script is not there."""
LACKING = frozenset({"no-module", "no-driver", "no-format", "no-connection"})
"""Rules about what a script needs and this machine has not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about one line.

    Args:
        line: number of the line, from 1; 0 for what the definition of the job says.
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
    """The findings about one script, or about one job and its script.

    Args:
        script: name of the script.
        findings: the findings, sorted by line.
        job: name of the job, if it comes from the definition of one.
    """

    script: str
    findings: tuple[Finding, ...]
    job: str = ""

    @property
    def outcome(self) -> Outcome:
        """What must be done before it runs."""
        rules = {finding.name for finding in self.findings}
        if self.at(Level.NOT_SUPPORTED):
            return Outcome.CHANGES
        if NOT_FOUND in rules:
            return Outcome.UNKNOWN
        if rules & LACKING:
            return Outcome.LACKING
        return Outcome.NOTES if self.at(Level.PARTLY) or self.at(Level.WARNING) else Outcome.UNCHANGED

    @property
    def effort(self) -> str:
        """What there is to do, in words."""
        changes = {(one.line, one.name) for one in self.at(Level.NOT_SUPPORTED)}
        brought = {(one.name, one.message) for one in self.findings if one.name in LACKING}
        notes = {(one.name, one.message) for one in self.findings if one.level in {Level.PARTLY, Level.WARNING}}
        parts = (
            (len(changes), "place to change", "places to change"),
            (len(brought), "thing to bring", "things to bring"),
            (len(notes - brought), "note to read", "notes to read"),
        )
        return ", ".join(counted(*part) for part in parts if part[0]) or "nothing"

    def at(self, level: Level) -> list[Finding]:
        """Return the findings of a level."""
        return [finding for finding in self.findings if finding.level is level]

    def lines(self) -> list[str]:
        """Return the report as text: one line for each finding, and a last line with their numbers."""
        lines = [
            (f"{self.script}:{one.line}" if one.line else f"job {self.job}")
            + f": {one.level.value}: {one.name}"
            + (f": {one.message}" if one.message else "")
            for one in self.findings
        ]
        counts = ", ".join(f"{len(self.at(level))} {level.value}" for level in Level)
        return [*lines, f"{self.script}: {counts}"]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {**asdict(self), "outcome": self.outcome, "effort": self.effort}
