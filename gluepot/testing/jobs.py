"""Running a script as a job of its own, in a process of its own, as `gluepot run` does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluepot.testing.streams import Batch, write_batches

SHOWN_ERROR_LINES = 30


class JobFailed(AssertionError):
    """A job ended with another code than 0; its text ends with what the job said last."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended.

    Args:
        exit_code: as `gluepot run` has it: 0 for success.
        stdout: what the script printed.
        stderr: log lines and errors.
    """

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class GlueJobRunner:
    """Runs jobs; pytest's fixture `run_glue_job` is one.

    Args:
        folder: takes recorded batches and a `TempDir` for each job.
        master: Spark master.
        timeout_secs: after how long a job is killed.
        python: the command that starts Python, such as that of another environment.
    """

    folder: Path
    master: str = "local[2]"
    timeout_secs: float = 300.0
    python: Sequence[str] = (sys.executable,)

    def __call__(
        self,
        script: str | Path,
        args: Mapping[str, object] = {},
        *,
        streams: Mapping[str, Sequence[Batch]] | None = None,
        glue_version: str | None = None,
        transforms: str | Path | None = None,
        check: bool = True,
    ) -> JobResult:
        """Run a script to its end.

        Args:
            script: the job script, unchanged.
            args: the job's arguments without dashes; `JOB_NAME` and `TempDir` are there by themselves.
            streams: batches by name of the topic or stream; the job ends when it has committed as many as the longest
                list has. Without it the script reads what it says.
            glue_version: whose behaviour it sees.
            transforms: folder of custom visual transforms.
            check: whether a job that fails raises.

        Raises:
            JobFailed: the job failed.
            subprocess.TimeoutExpired: it took longer than `timeout_secs`.
        """
        own = Path(tempfile.mkdtemp(prefix="job-", dir=self.folder))
        options = ["--master", self.master]
        if streams is not None:
            for name, batches in streams.items():
                write_batches(batches, own / "streams" / name)
            options += ["--recorded-streams", str(own / "streams")]
            options += ["--max-batches", str(max(map(len, streams.values()), default=1))]
        options += ["--glue-version", glue_version] if glue_version else []
        options += ["--transforms", str(transforms)] if transforms else []
        given = {"JOB_NAME": Path(script).stem, "TempDir": own / "temp", **args}
        passed = [token for name, value in given.items() for token in (f"--{name}", str(value))]
        done = subprocess.run(
            [*self.python, "-m", "gluepot.testing.run_recorded", str(script), *options, "--", *passed],
            capture_output=True,
            check=False,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=self.timeout_secs,
        )
        if check and done.returncode:
            last = "\n".join(done.stderr.splitlines()[-SHOWN_ERROR_LINES:])
            raise JobFailed(f"{script} ended with {done.returncode}:\n{last}")
        return JobResult(done.returncode, done.stdout, done.stderr)
