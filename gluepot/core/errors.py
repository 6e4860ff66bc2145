"""The errors a caller can act on, grouped by what the caller does next.

EtlError
├── ConfigError        fix the job: an option, a path, a name
│   └── NotSupported   the call exists in Glue and not here yet
├── TransientError     try again after `wait_secs`
├── PermanentError     stop: trying again changes nothing
│   └── DataLoss       the source no longer holds records that were never read
├── CheckpointError    state on disk disagrees with what is asked
└── LeaseHeld          another driver runs this query; end one of the two

A message is one sentence or two: what happened, the value, the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

ISSUES_URL = "https://github.com/gluepot/gluepot/issues"


class EtlError(Exception):
    """The base of all errors that we raise on purpose. `str()` of one is a message for the user."""


class ConfigError(EtlError):
    """The job cannot run as written; the message names option, value and what is allowed."""


class NotSupported(ConfigError, NotImplementedError):
    """A call of Glue's API that this version does not implement.

    Args:
        name: the call as the user wrote it, e.g. `GlueContext.purge_table`.
        instead: one sentence that says what the user can do instead; may be empty.
    """

    def __init__(self, name: str, instead: str = "") -> None:
        hint = f" {instead}" if instead else ""
        super().__init__(f"{name} is not supported by this version of Gluepot.{hint} Ask for it at {ISSUES_URL}")
        self.name = name


class TransientError(EtlError):
    """Something outside of Gluepot is unavailable for now.

    Args:
        message: one sentence.
        wait_secs: how long to wait before the next try.
    """

    def __init__(self, message: str, wait_secs: float = 1.0) -> None:
        super().__init__(message)
        self.wait_secs = wait_secs


class PermanentError(EtlError):
    """Trying again cannot help."""


class DataLoss(PermanentError):
    """The source no longer has records between the last committed position and what it offers now."""


class CheckpointError(EtlError):
    """The checkpoint does not belong to this stream, or cannot be read."""


class LeaseHeld(EtlError):
    """Another driver owns the checkpoint. This one may not start, or, if it has lost the lease, not publish."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the nearest known name, or an empty string."""
    folded = {candidate.lower(): candidate for candidate in known}
    match = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return f" Did you mean '{folded[match[0]]}'?" if match else ""
