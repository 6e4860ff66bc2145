"""What the operations of the API share."""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.service.errors import invalid
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
    """

    store: Store
    clock: Clock
    wake: Callable[[], None]
    run_folder: Callable[[str], Path]
    environ: Mapping[str, str]
    account: str
    region: str

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""
        return round(self.clock.epoch() * 1000)

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource."""
        return f"arn:aws:glue:{self.region}:{self.account}:{kind}/{name}"


def new_id(prefix: str) -> str:
    """Return a new id: the prefix and 64 hexadecimal digits."""
    return f"{prefix}{secrets.token_hex(32)}"


def page_token(position: str) -> str:
    """Return the token for the page that begins after a position."""
    return base64.urlsafe_b64encode(position.encode()).decode()


def position_of(token: str | None) -> str:
    """Return the position that a token stands for; an empty text for the first page.

    Raises:
        ServiceError: `InvalidInputException`, because no answer had this token.
    """
    try:
        return base64.urlsafe_b64decode((token or "").encode()).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise invalid(f"NextToken is {token!r}, which no answer had; begin without it.") from None


def number_of(token: str | None) -> int | None:
    """Return the number that a token stands for; None for the first page.

    Raises:
        ServiceError: `InvalidInputException`, because no answer had this token.
    """
    position = position_of(token)
    if position and not position.isdecimal():
        raise invalid(f"NextToken is {token!r}, which no answer had; begin without it.")
    return int(position) if position else None


def secs(at_ms: int) -> float:
    """Return milliseconds as the protocol tells times: seconds."""
    return at_ms / 1000
