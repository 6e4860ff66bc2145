"""The errors that Gluepot raises on purpose, for programs that tell them apart.

from gluepot.errors import TransientError

try:
    table = gluepot.table.open(url)
except TransientError as away:
    sleep(away.wait_secs)

EtlError
├── ConfigError        fix the job: an option, a path, a name
│   └── NotSupported   the call exists in Glue and not here yet
├── TransientError     try again after `wait_secs`
├── PermanentError     stop: trying again changes nothing
│   └── DataLoss       the source no longer holds records that were never read
├── CheckpointError    state on disk disagrees with what is asked
└── LeaseHeld          another driver runs this query; end one of the two
"""

from gluepot.core.errors import (
    CheckpointError,
    ConfigError,
    DataLoss,
    EtlError,
    LeaseHeld,
    NotSupported,
    PermanentError,
    TransientError,
)

__all__ = [
    "CheckpointError",
    "ConfigError",
    "DataLoss",
    "EtlError",
    "LeaseHeld",
    "NotSupported",
    "PermanentError",
    "TransientError",
]
