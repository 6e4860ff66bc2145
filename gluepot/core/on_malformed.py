"""The option `--on-malformed`: what happens to records that cannot be read as rows."""

from __future__ import annotations

from enum import StrEnum

from gluepot.core.errors import ConfigError, did_you_mean


class OnMalformed(StrEnum):
    """What happens to a record that cannot be read as a row."""

    KEEP = "keep"
    """It is kept and counted."""
    FAIL = "fail"
    """The job ends, and nothing that depends on the record is published."""
    DROP = "drop"
    """It is left out and counted."""

    @classmethod
    def of(cls, text: str) -> OnMalformed:
        """Return what the stream option `onMalformed` means; an empty text is `keep`.

        Raises:
            ConfigError: there is no such value.
        """
        try:
            return cls(text.lower() or cls.KEEP)
        except ValueError:
            raise ConfigError(f"onMalformed is {text!r}; use keep, fail or drop.{did_you_mean(text, cls)}") from None
