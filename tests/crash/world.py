"""One job's place in a run: its stream, its folders, and what Spark's checkpoint and the table say of its progress."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.balances import unbalanced
from tests.crash import manifests
from tests.crash.checker import Expected, parts
from tests.crash.database import Database
from tests.crash.driver import Driver, job_command
from tests.crash.lanes import Folder, Lane
from tests.crash.streams import Stream

SCRIPTS = Path(__file__).parent / "scripts"

# Spark removes old entries of its logs after every batch, instead of keeping the last hundred.
PURGE = "spark.sql.streaming.minBatchesToRetain=2"
MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Script:
    """A job script.

    Args:
        file: its name.
        tables: what they must hold.
        batch_records: about how many records a batch of it has at most.
        in_any_order: whether each attempt of a batch goes its own way, and leaves a note that says which.
    """

    file: str
    tables: Sequence[Expected]
    batch_records: int
    in_any_order: bool = False


COPY = Script("copy_clicks.py", [Expected("copied")], 150)
THRICE = Script(
    "write_thrice.py",
    [Expected("copied"), Expected("bought", "kind = 'buy'"), Expected("others", "kind <> 'buy'", rejects=False)],
    300,
)
ANY_ORDER = Script(
    "write_in_any_order.py",
    [
        Expected("copied"),
        Expected("timed", several=True),
        Expected("branch", "kind = 'buy'", rejects=False, several=True),
    ],
    300,
    in_any_order=True,
)
SCRIPTS_BY_NAME = {"copy": COPY, "thrice": THRICE, "any-order": ANY_ORDER}


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt of a batch said it was about to do, if its script does.

    Args:
        batch_id: of the batch.
        tables: those it would write to that another attempt might not.
        fails: after how many writes; None: not at all.
    """

    batch_id: int
    tables: Sequence[str]
    fails: int | None


@dataclass(frozen=True)
class World:
    """Where one job runs, over all of its starts.

    Args:
        folder: everything of it on this machine.
        lane: where the tables lie.
        script: the job.
        stream: of this job alone.
    """

    folder: Path
    lane: Lane
    script: Script
    stream: Stream

    @property
    def temp(self) -> Path:
        """The job's `--TempDir`."""
        return self.folder / "temp"

    @property
    def checkpoint(self) -> Path:
        return self.temp / "checkpoint"

    @property
    def log(self) -> Path:
        """What all of its starts wrote."""
        return self.folder / "log"

    @property
    def fired(self) -> Path:
        """The log of the failpoints."""
        return self.folder / "fired"

    @property
    def trouble(self) -> Path:
        """While this file is there, the next batch fails once."""
        return self.temp / "fail"

    @cached_property
    def tables(self) -> Mapping[str, Folder]:
        """Of files, by the names that the script has for them."""
        output = self.lane.output
        assert not isinstance(output, Database)
        return {one.table: output.below(one.table) for one in self.script.tables}

    def parts(self) -> Mapping[str, Folder]:
        """Every folder that is a table of files now, by its path below the output."""
        return {
            f"{one.table}/{name}".rstrip("/"): part
            for one in self.script.tables
            for name, part in parts(self.tables[one.table], one).items()
        }

    def attempts(self) -> list[Attempt]:
        """Every attempt of a batch, in order."""
        notes = self.temp / "attempts"
        return [Attempt(**json.loads(line)) for line in notes.open()] if notes.exists() else []

    def start(
        self, *options: str, in_workers: bool = True, env: Mapping[str, str] | None = None, module: str = "gluepot"
    ) -> Driver:
        """Start the job; its batches, which are small, run in workers or on the driver."""
        temporary = self.folder / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        arguments = {
            "JOB_NAME": "crash",
            "TempDir": self.temp,
            "connection_type": self.stream.source,
            "connection_options": json.dumps(self.stream.options(self.script.batch_records)),
            "output_path": self.lane.output.url,
            "conf": PURGE,
        }
        small = ("--batch-option", f"smallBatchRecords={0 if in_workers else MANY}")
        command = job_command(SCRIPTS / self.script.file, arguments, *small, *options, module=module)
        surroundings = {**self.lane.env, **self.stream.env, "TMPDIR": str(temporary), **(env or {})}
        return Driver.start(command, self.folder / "cwd", self.log, surroundings, in_workers=in_workers)

    def last_error(self) -> str:
        """The newest error that a start has logged; not those of the bridge to Java, which sees every retry."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        errors = (line for line in reversed(lines) if '"level": "error"' in line and "py4j" not in line)
        return next(errors, "nothing logged")

    def unaccounted(self) -> list[str]:
        """The lines of batches whose balances do not hold, by the product's word or by their own numbers."""
        return unbalanced(self.log)

    def planned(self) -> int:
        """The newest batch in Spark's offset log, -1 before the first."""
        return self._newest("offsets")

    def done(self) -> int:
        """The newest batch in Spark's commit log, -1 before the first."""
        return self._newest("commits")

    def _newest(self, log: str) -> int:
        names = [path.name for path in (self.checkpoint / log).glob("[0-9]*")]
        return max((int(name) for name in names if name.isdecimal()), default=-1)

    def published(self, batch_id: int) -> bool:
        """Whether a manifest of the batch, or what stands for it, is there, in any of the tables."""
        if isinstance(self.lane.output, Database):
            return self.lane.output.published(batch_id)
        return any(
            manifests.read(table, name).batch_id == batch_id
            for table in self.parts().values()
            for name in manifests.names(table)
        )

    def unpublished_files(self) -> list[str]:
        """Our own files in the tables other than manifests: staging, intents; in a database, tables of staged rows.

        Without the hidden temporaries of files that are created whole: a kill within their millisecond leaves one, no
        reader opens it, and nothing removes it.
        """
        if isinstance(self.lane.output, Database):
            return [f"/staging/{name}" for name in self.lane.output.staged()]
        return [
            f"{name}/{key}"
            for name, table in self.parts().items()
            for key in table.keys("_gluepot")
            if not (key.startswith(f"{manifests.COMMITS}/") and key.endswith(".json"))
            and not key.endswith(".gluepot-tmp")
        ]
