"""Folders and files that only their owner may read, whatever the umask."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents; folders that were there before keep their mode.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.parent.exists():
        make_private_folder(folder.parent)  # `mkdir` would make parents with the mode that the umask leaves
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_private_file(path: Path, text: str = "") -> None:
    """Make a file with a text if there is none; one that was there before keeps its content and its mode.

    Raises:
        OSError: it cannot be made.
    """
    with (
        suppress(FileExistsError),
        os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w") as made,
    ):
        made.write(text)
