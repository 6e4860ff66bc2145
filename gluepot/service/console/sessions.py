"""Who may look at the console: links that log in once, and the sessions of browsers that have logged in."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from gluepot.core.clock import Clock

LINK_SECS = 600
SESSION_SECS = 12 * 3600
# Each session is a few hundred bytes. Beyond this number the oldest one has to log in again.
_MOST_SESSIONS = 1000
MOST_WRONG_LOGINS, WRONG_LOGINS_SECS = 10, 60.0
"""So many wrong logins from one address, in so many seconds, make it wait."""
_MOST_ADDRESSES = 10_000


class Notice(NamedTuple):
    """What the next page says about the last action.

    Args:
        mood: `good` or `bad`.
        text: for people.
    """

    mood: str
    text: str


@dataclass(slots=True)
class Session:
    """A browser that has logged in.

    Args:
        key_id: the access key with which it did.
        until_secs: seconds since 1970 at which it has to log in again.
        csrf: the secret of its forms, which only our own pages have.
        notice: what its next page has to say; None for nothing.
    """

    key_id: str
    until_secs: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    notice: Notice | None = None

    def take_notice(self) -> Notice | None:
        """Return the notice, once."""
        found, self.notice = self.notice, None
        return found


class Sessions:
    """The sessions of one service. They end with it.

    Args:
        clock: tells the time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # By the digest of the cookie, so that a comparison tells nothing by the time that it takes.
        self._open: dict[str, Session] = {}

    def begin(self, key_id: str) -> str:
        """Begin a session; return the value of its cookie."""
        now_secs = self._clock.epoch()
        self._open = {name: one for name, one in self._open.items() if one.until_secs > now_secs}
        while len(self._open) >= _MOST_SESSIONS:
            del self._open[next(iter(self._open))]
        cookie = secrets.token_urlsafe(32)
        self._open[_digest(cookie)] = Session(key_id, now_secs + SESSION_SECS)
        return cookie

    def of(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if there is none, or it is over."""
        found = self._open.get(_digest(cookie))
        return None if found is None or found.until_secs <= self._clock.epoch() else found

    def end(self, cookie: str) -> None:
        """End a session."""
        self._open.pop(_digest(cookie), None)


def _digest(cookie: str) -> str:
    return sha256(cookie.encode()).hexdigest()


def new_link_token(secret: str, now_secs: float) -> str:
    """Return the token of a link that logs in once, within ten minutes.

    Args:
        secret: of the service's own key pair.
        now_secs: seconds since 1970.
    """
    until, nonce = str(round(now_secs) + LINK_SECS), secrets.token_hex(12)
    return f"{until}.{nonce}.{_signature(secret, until, nonce)}"


class WrongLogins:
    """Makes whoever has given wrong secrets wait. A link still logs in meanwhile.

    Args:
        clock: tells the time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # When the last wrong ones were, by the address of the browser.
        self._at_secs: dict[str, list[float]] = {}

    def wait_secs(self, address: str) -> float:
        """Return how long an address has to wait until its next login is looked at; 0 for not at all."""
        recent = self._recent(address)
        return recent[0] + WRONG_LOGINS_SECS - self._clock.epoch() if len(recent) >= MOST_WRONG_LOGINS else 0.0

    def add(self, address: str) -> None:
        """Note a wrong login."""
        recent = [*self._recent(address), self._clock.epoch()][-MOST_WRONG_LOGINS:]
        self._at_secs.pop(address, None)
        while len(self._at_secs) >= _MOST_ADDRESSES:
            del self._at_secs[next(iter(self._at_secs))]
        self._at_secs[address] = recent

    def _recent(self, address: str) -> list[float]:
        since_secs = self._clock.epoch() - WRONG_LOGINS_SECS
        return [one for one in self._at_secs.get(address, ()) if one > since_secs]


class Links:
    """Takes the tokens of links, each once.

    Args:
        secret: of the service's own key pair.
        clock: tells the time.
    """

    def __init__(self, secret: str, clock: Clock) -> None:
        self._secret = secret
        self._clock = clock
        # Which tokens an earlier service has taken is not known, so those from before its end are not good.
        self._since_secs = round(clock.epoch())
        self._spent: dict[str, int] = {}

    def take(self, token: str) -> bool:
        """Return whether a token is good; it is not good again."""
        until, _, rest = token.partition(".")
        nonce, _, signature = rest.partition(".")
        if not hmac.compare_digest(_signature(self._secret, until, nonce).encode(), signature.encode()):
            return False
        now_secs = self._clock.epoch()
        self._spent = {name: end for name, end in self._spent.items() if end > now_secs}
        too_old = int(until) <= now_secs or int(until) < self._since_secs + LINK_SECS
        if too_old or nonce in self._spent:
            return False
        self._spent[nonce] = int(until)
        return True


def _signature(secret: str, until: str, nonce: str) -> str:
    return hmac.new(secret.encode(), f"gluepot console link {until} {nonce}".encode(), "sha256").hexdigest()
