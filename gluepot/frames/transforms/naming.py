"""Names of fields that a transform makes."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.core.errors import ConfigError


def refuse_twins(counts: Mapping[str, int]) -> None:
    """Check that no name is given twice: fields with the same name cannot be distinguished or written.

    Args:
        counts: how often each name is given.

    Raises:
        ConfigError: a name is given more than once.
    """
    if twin := next((name for name, count in counts.items() if count > 1), None):
        raise ConfigError(f"the transform gives a second field '{twin}'; rename the one that is there first.")
