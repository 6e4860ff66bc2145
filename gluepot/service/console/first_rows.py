"""Reads the first rows of a table for the console, in a process of its own: files may be large, damaged or far away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from threading import BoundedSemaphore
from typing import Any

from gluepot.core.errors import PermanentError
from gluepot.service.launch.processes import said

MOST_ROWS = 50
_SECS = 20.0
_AT_A_TIME = 2
_turns = BoundedSemaphore(_AT_A_TIME)


def first_rows(database: str, table: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the first rows of a table, by column.

    Args:
        database: its database.
        table: its name.
        environ: says where the catalog is, and has the credentials of the storage.

    Raises:
        PermanentError: they cannot be read, with the reason, or not in time.
    """
    options = ["--most", str(MOST_ROWS), "--output", "json"]
    command = [sys.executable, "-m", "gluepot", "catalog", "rows", *options, "--", f"{database}.{table}"]
    late = PermanentError(f"The rows of {database}.{table} were not there after {_SECS:.0f} seconds; use a job.")
    if not _turns.acquire(timeout=_SECS):
        raise late
    try:
        done = subprocess.run(command, env=dict(environ), capture_output=True, timeout=_SECS, check=False)
    except subprocess.TimeoutExpired:
        raise late from None
    finally:
        _turns.release()
    if done.returncode != 0:
        reason = said(done.stderr.decode(errors="replace")) or f"exit code {done.returncode}"
        raise PermanentError(f"The rows of {database}.{table} cannot be read: {reason}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
