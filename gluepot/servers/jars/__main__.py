"""`python -m gluepot.servers.jars fetch SET` fills the cache; `... lock` resolves the roots in the lock anew."""

from __future__ import annotations

import sys

from cyclopts import App

from gluepot.core.errors import EtlError
from gluepot.servers.jars.fetch import ensure
from gluepot.servers.jars.lockfile import dump_lock, lock_path, parse_lock
from gluepot.servers.jars.relock import relock

app = App(name="python -m gluepot.servers.jars", help="Java archives of the development servers.")


@app.command
def fetch(name: str) -> None:
    """Fetch what the cache lacks of a set.

    Args:
        name: a set in deploy/jars.lock.json.
    """
    print(f"{name}: {len(ensure(name))} archives are in the cache.")


@app.command
def lock() -> None:
    """Resolve every set's roots anew and write deploy/jars.lock.json; needs the network, takes a minute."""
    path = lock_path()
    sets = parse_lock(path.read_text())
    path.write_text(dump_lock({name: relock(jars) for name, jars in sets.items()}))
    print(f"{path} is written.")


if __name__ == "__main__":
    try:
        app()
    except EtlError as error:
        sys.exit(str(error))
