"""What the operations of the API share."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.service.events.envelopes import Origin
from gluepot.service.run_logs import RunLogs
from gluepot.service.store.database import Store


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of the service that an operation may need.

    Args:
        store: its database.
        clock: tells the time.
        wake: has runs looked at, because something has changed.
        run_folder: returns the folder of a run, with its logs.
        environ: says where ledger and catalog are.
        account: twelve digits.
        region: in names of resources.
        place: where the service works; empty in tests and commands, which start no runs.

    Attributes:
        logs: of runs.
    """

    store: Store
    clock: Clock
    wake: Callable[[], None]
    run_folder: Callable[[str], Path]
    environ: Mapping[str, str]
    account: str
    region: str
    place: str = ""
    logs: RunLogs = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "logs", RunLogs(self.store, self.run_folder, self.place))

    @property
    def origin(self) -> Origin:
        """Of events."""
        return Origin(self.account, self.region)

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""
        return round(self.clock.epoch() * 1000)

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource."""
        return self.origin.arn(kind, name)

    def event_arn(self, rule: str) -> str:
        """Return the ARN of a rule."""
        return f"arn:aws:events:{self.region}:{self.account}:rule/{rule}"

    def alarm_arn(self, alarm: str) -> str:
        """Return the ARN of an alarm."""
        return f"arn:aws:cloudwatch:{self.region}:{self.account}:alarm:{alarm}"


def new_id(prefix: str) -> str:
    """Return a new id: the prefix and 64 hexadecimal digits."""
    return f"{prefix}{secrets.token_hex(32)}"


def secs(at_ms: int) -> float:
    """Return milliseconds as the protocol tells times: seconds."""
    return at_ms / 1000
