"""`gluepot jars`: fetches the Java archives of the table formats before a job needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from cyclopts import App

from gluepot.datalake.formats import BUNDLED
from gluepot.servers.jars import ensure
from gluepot.servers.jars.fetch import copy_to

app = App(name="jars", help="Java archives of the table formats.")


@app.command
def fetch(*formats: Literal["delta", "iceberg"], jars_dir: Path | None = None) -> None:
    """Fetch the archives that `--datalake-formats` needs and check each against the lock. Then jobs need no network.

    Args:
        formats: delta, iceberg; both unless given.
        jars_dir: also copy the archives into this folder. Take it to a machine without a network and give it there to
            `gluepot run --jars-dir`.
    """
    for name in formats or BUNDLED:
        archives = ensure(name)
        if jars_dir is not None:
            copy_to(jars_dir, archives)
        print(f"{name}: {len(archives)} archives are in {jars_dir or 'the cache'}.")
