"""The exit codes of all commands."""

from __future__ import annotations

DONE, FAILED, USAGE, FINDINGS, OTHER_DRIVER, CLOSED_PIPE = 0, 1, 2, 3, 4, 141
INTERRUPTED, TERMINATED = 130, 143

MEANINGS = {
    DONE: (
        "The command did what it was asked to do. A stream that a first SIGTERM or SIGINT ended between two batches"
        " ends with it, too."
    ),
    FAILED: "The run or the command failed. The same call may succeed later.",
    USAGE: (
        "Something in the call, the script's options or the configuration must be corrected: an option, a path, a name,"
        " a topic that the checkpoint does not belong to. The same call fails again."
    ),
    FINDINGS: "A check was made and found something: `check`, `table verify`, `checkpoint doctor`, `quality`.",
    OTHER_DRIVER: "Another driver runs on this checkpoint or job, or has taken it over.",
    INTERRUPTED: "SIGINT ended a job without a running stream, or a second one ended a stream at once.",
    CLOSED_PIPE: "Nobody reads the output any more, such as in `gluepot table files TABLE | head`.",
    TERMINATED: "SIGTERM ended a job without a running stream, or a second one ended a stream at once.",
}
"""What each exit code says, for people and for schedulers."""
