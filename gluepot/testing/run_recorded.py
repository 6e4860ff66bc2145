"""python -m gluepot.testing.run_recorded SCRIPT [options] -- ...: `gluepot run` with recorded batches for streams."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from gluepot.cli.main import outcome
from gluepot.job.options import RunOptions
from gluepot.job.run import run as run_script
from gluepot.streaming.query.session import StreamSession
from gluepot.testing.streams import RecordedStreams

app = App(name="gluepot.testing.run_recorded")


@app.default
def run(
    script: Path,
    *arguments: str,
    master: str = "local[2]",
    recorded_streams: Path | None = None,
    max_batches: int | None = None,
    glue_version: str | None = None,
    transforms: str | None = None,
) -> None:
    """Run a script once.

    Args:
        script: the script.
        arguments: what it gets, after `--`.
        master: Spark master.
        recorded_streams: a folder of batches per stream, see `RecordedStreams`.
        max_batches: end after so many batches.
        glue_version: whose behaviour it sees.
        transforms: folder of custom visual transforms.
    """
    recorded = None if recorded_streams is None else RecordedStreams(recorded_streams)
    options = RunOptions(master=master, glue_version=glue_version, transforms=transforms, max_batches=max_batches)
    run_script(script, arguments, options, StreamSession(stand_in=recorded))


if __name__ == "__main__":
    raise SystemExit(outcome(app))
