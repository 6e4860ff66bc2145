"""Dead letters back to a topic, their own or another one.

Each is sent once, whatever number of replays it takes: what the broker has acknowledged is written down after every
`CHUNK` letters. A replay that dies goes on with the next one, which sends again at most the last `CHUNK` letters, those
that were on their way or acknowledged and not yet written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Protocol

from gluepot.connectors.kafka.sender import Sent
from gluepot.connectors.values import Outgoing
from gluepot.core.errors import ConfigError
from gluepot.dead_letters.ledger import Ledger
from gluepot.dead_letters.letters import Letter

CHUNK = 100
HEADER = "gluepot-replayed-from"


class Sender(Protocol):
    """What a replay needs of a producer."""

    def send(self, topic: str, records: Sequence[Outgoing]) -> Sent:
        """Send records in order; returns when each is acknowledged or given up."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did.

    Args:
        sent: letters acknowledged now.
        skipped: letters acknowledged before.
    """

    sent: int
    skipped: int


def replay(letters: Iterable[Letter], ledger: Ledger, sender: Sender, topic: str) -> Replayed:
    """Send letters that the ledger does not know yet, in their order.

    Args:
        letters: those of one file together.
        ledger: ledger of the topic.
        sender: a sender to the topic's cluster.
        topic: where to.

    Raises:
        EtlError: a letter was not acknowledged; those that were are written down.
    """
    done = skipped = 0
    for path, group in groupby(letters, key=lambda letter: letter.file.path):
        acknowledged = ledger.sent(path)
        for chunk in iter(lambda: list(islice(group, CHUNK)), []):  # noqa: B023  used up before the next group
            waiting = [letter for letter in chunk if letter.row not in acknowledged]
            skipped += len(chunk) - len(waiting)
            if not waiting:
                continue
            outcome = sender.send(topic, [outgoing(letter) for letter in waiting])
            acknowledged |= {waiting[index].row for index in outcome.acknowledged}
            ledger.note(path, acknowledged)
            if outcome.error is not None:
                raise outcome.error
            done += len(waiting)
    return Replayed(done, skipped)


def topics_of(letters: Iterable[Letter]) -> list[str]:
    """Return the topics from which letters came, sorted.

    Raises:
        ConfigError: a letter does not name its topic, so that no letter may be sent yet.
    """
    topics = set[str]()
    for letter in letters:
        if not letter.stream:
            raise ConfigError(f"The dead letter at {letter.origin} does not name its topic; give --topic.")
        if "/" in letter.stream:
            raise ConfigError(f"The dead letter from {letter.origin} was in a file, not in a topic; give --topic.")
        topics.add(letter.stream)
    return sorted(topics)


def outgoing(letter: Letter) -> Outgoing:
    """Return the record as it was, with a header that says where it came from."""
    return Outgoing(letter.raw, letter.key, (*letter.headers, (HEADER, letter.origin.encode())))
