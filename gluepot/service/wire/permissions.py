"""What the key for readers may call: the operations that only read."""

from __future__ import annotations

from gluepot.service.errors import ServiceError
from gluepot.service.wire.signature import Signer

# Names of AWS's operations begin with a verb. Each of these only reads, in all services that are answered here.
_READS = ("BatchGet", "Check", "Describe", "Filter", "Get", "List", "Query", "Search", "TestEventPattern")


def is_read(operation: str) -> bool:
    """Tell whether an operation only reads, by its name."""
    return operation.startswith(_READS)


def check_reads(signer: Signer, operation: str) -> None:
    """Check that a key for readers may call an operation.

    Args:
        signer: who calls, with such a key.
        operation: such as `ResetJobBookmark`.

    Raises:
        ServiceError: `AccessDeniedException`, because the operation changes something.
    """
    if not is_read(operation):
        raise ServiceError(
            "AccessDeniedException",
            f"User: {signer.access_key} is not authorized to perform: {signer.service}:{operation}, because its key may"
            " only read; use another key of the service.",
        )
