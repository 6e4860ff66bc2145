"""NAME=VALUE on the command line. Pure."""

from __future__ import annotations

from gluepot.core.errors import ConfigError


def pair(option: str, text: str) -> tuple[str, str]:
    """Return name and value of `NAME=VALUE`.

    Args:
        option: name of the option, without dashes.
        text: its value.

    Raises:
        ConfigError: the text has no name, or no equals sign.
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ConfigError(f"--{option} is {text!r}; write NAME=VALUE.")
    return name, value
