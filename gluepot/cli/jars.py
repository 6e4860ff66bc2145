"""`gluepot jars`: fetches the Java archives of the table formats before a job needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from cyclopts import App

from gluepot.cli.output import Output, Row
from gluepot.datalake.formats import BUNDLED
from gluepot.servers.jars import ensure
from gluepot.servers.jars.fetch import copy_to

app = App(name="jars", help="Java archives of the table formats.")


@app.command
def fetch(*formats: Literal["delta", "iceberg"], jars_dir: Path | None = None, output: Output = "text") -> None:
    """Fetch the archives that `--datalake-formats` needs and check each against the lock. Then jobs need no network.

    Args:
        formats: delta, iceberg; both unless given.
        jars_dir: also copy the archives into this folder. Take it to a machine without a network and give it there to
            `gluepot run --jars-dir`.
        output: text for people; json for a list of objects with format and archives.
    """
    done: list[Row] = []
    for name in formats or BUNDLED:
        archives = ensure(name)
        if jars_dir is not None:
            copy_to(jars_dir, archives)
        done.append({"format": name, "archives": [str(one) for one in archives]})
        if output == "text":
            print(f"{name}: {len(archives)} archives are in {jars_dir or 'the cache'}.")
    if output == "json":
        print(json.dumps(done))
