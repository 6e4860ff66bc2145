"""What a campaign did and found, as values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.crash.checker import Verdict

MOST_FAILED_STARTS = 5

NOTHING = Verdict(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill.

    Args:
        what: the point's number and name, or who was killed.
        where: the armed failpoint; empty for a random moment.
        fired: whether the place was reached, or the victim there.
        seen: whether the disk looked as it must afterwards.
        batch_id: newest planned batch after the kill.
    """

    what: str
    where: str
    fired: bool
    seen: bool
    batch_id: int


@dataclass
class Outcome:
    """A campaign's result; `right` is the one thing that matters.

    Args:
        name: of the campaign.
        lane: where records came from and tables were.
        script: the job.
        seed: of data, kills and schedule.
        records: acknowledged.
        unanswered: records sent that nobody answered for; those that were there after all count as acknowledged.
        reshards: splits and merges.
        failed_starts: starts that ended by themselves, as they do on a machine so busy that Spark gives up on its workers;
            the next one has to succeed, and more than `MOST_FAILED_STARTS` are a fault.
        by_folder: what a reader found who listed the folders afterwards.
        by_manifest: what a reader of manifests found.
        attempts: calls of the batch function, where its script counts them.
        looks: how often a reader looked while jobs were killed.
        modelled: changes of tables in S3 that the model of the commit protocol allows; 0 without a Rust compiler.
        leftovers: files in our own folders after the end that are no manifests.
        faults: everything that was not as it must be, in words.
    """

    name: str
    lane: str
    script: str
    seed: str
    records: int = 0
    unanswered: int = 0
    reshards: int = 0
    starts: int = 0
    failed_starts: int = 0
    batches: int = 0
    attempts: int = 0
    looks: int = 0
    secs: float = 0.0
    modelled: int = 0
    leftovers: int = 0
    kills: list[Kill] = field(default_factory=list)
    by_folder: Verdict = NOTHING
    by_manifest: Verdict = NOTHING
    faults: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        return not self.faults and self.by_folder.right and self.by_manifest.right

    def kills_by_name(self) -> dict[str, int]:
        return dict(Counter(kill.what for kill in self.kills if kill.fired))
