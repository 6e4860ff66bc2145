"""The errors that Gluepot raises on purpose, for programs that tell them apart.

from gluepot.errors import TransientError

try:
    table = gluepot.table.open(url)
except TransientError as away:
    sleep(away.wait_secs)

`gluepot/core/errors.py` draws them as a tree, by what a caller does next.
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
