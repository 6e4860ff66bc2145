"""Runs statements on two equal tables, as scripts do and with Spark's own MERGE, and compares the tables."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from gluepot.connectors.lake.merging import run
from gluepot.servers import jars
from tests.differential.kind import Difference, Round, shrink
from tests.differential.merges.stories import Step, Story
from tests.differential.rows import text
from tests.native_tables import with_settings

_SESSION = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
    "io.delta.sql.DeltaSparkSessionExtension",
}
FAST = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""What makes Spark faster with few rows, and changes no answer."""
_OURS = "spark.gluepot.nativeMerge"
_TRIES = 60
_numbers = itertools.count()
_CHANGING = re.compile(r"(ours|spark)\d+|#\d+|[0-9a-f]{8}-[0-9a-f-]{27}")


def settings() -> dict[str, str]:
    """Return settings with which a session knows tables of both formats; they have to be there when Spark starts."""
    archives = [str(path) for form in ("iceberg", "delta") for path in jars.ensure(form)]
    return {**_SESSION, "spark.jars": ",".join(dict.fromkeys(archives)), "spark.ui.enabled": "false"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a statement did: rows that it returned or its error, and what is in the table then."""

    outcome: str
    table: str

    def __str__(self) -> str:
        return f"{self.outcome}\n{self.table}"


@dataclass(slots=True)
class Lake:
    """Where tables of a format are made.

    Args:
        spark: the session.
        form: the format.
        folder: where the tables are.
    """

    spark: Any
    form: str
    folder: Path
    _catalog: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if self.form == "iceberg":
            self._catalog = f"lake{next(_numbers)}."
            name = f"spark.sql.catalog.{self._catalog.rstrip('.')}"
            self.spark.conf.set(name, "org.apache.iceberg.spark.SparkCatalog")
            self.spark.conf.set(f"{name}.type", "hadoop")
            self.spark.conf.set(f"{name}.warehouse", str(self.folder))

    def fast(self) -> Any:
        """Run small statements faster, as long as this lasts."""
        return with_settings(self.spark, FAST)

    def compare(self, story: Story, total: Round) -> None:
        """Compare each statement of a story; the story ends with the first that differs."""
        for at, (answers, taken) in enumerate(self._told(story)):
            total.cases += 1
            total.taken += taken
            if answers[0] != answers[1]:
                small = shrink(story.until(at), Story.smaller, self._differs, _TRIES)
                ours, original = (str(one)[:1500] for one in self._last(small) or answers)
                total.differences.append(Difference(small.text(self.form), ours, original))
                return

    def _differs(self, story: Story) -> bool:
        found = self._last(story)
        return found is not None and found[0] != found[1]

    def _last(self, story: Story) -> list[Answer] | None:
        """Return the answers to the last statement; None if it means nothing or earlier ones differ."""
        found = [answers for answers, _ in self._told(story)]
        return found[-1] if found and all(one[0] == one[1] for one in found[:-1]) else None

    def _told(self, story: Story) -> Iterator[tuple[list[Answer], bool]]:
        """Yield the answers to each statement, ours and Spark's, and whether ours came without Spark's join."""
        with self._pair(story) as tables:
            for at, step in enumerate(story.steps if tables else ()):
                yield self._answers(step, tables, is_last=at == len(story.steps) - 1)

    @contextmanager
    def _pair(self, story: Story) -> Iterator[list[str]]:
        """Make two equal tables; yield their names, or nothing if there is no such table."""
        number = next(_numbers)
        names = [f"{self._catalog}db.{side}{number}" for side in ("ours", "spark")]
        self.spark.sql(f"CREATE DATABASE IF NOT EXISTS {self._catalog}db")
        try:
            yield names if self._made(story, names) else []
        finally:
            for name in names:
                self.spark.sql(f"DROP TABLE IF EXISTS {name}")

    def _made(self, story: Story, names: list[str]) -> bool:
        try:
            if self.form == "iceberg":  # whose files name their folder
                for name in names:
                    self._run(story.table.made(name, self.form, ""))
            else:
                places = [self.folder / name for name in names]
                self._run(story.table.made(names[0], self.form, f" LOCATION '{places[0]}'"))
                shutil.copytree(*places)
                self._run([f"CREATE TABLE {names[1]} USING {self.form} LOCATION '{places[1]}'"])
        except (PySparkException, Py4JJavaError):
            return False
        return True

    def _run(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self.spark.sql(statement)

    def _answers(self, step: Step, tables: list[str], *, is_last: bool) -> tuple[list[Answer], bool]:
        notes: list[bool] = []
        with with_settings(self.spark, step.settings):
            self.spark.sql(step.source.sql).createOrReplaceTempView("b")
            with _noted(notes, leaves_out=not step.is_run_by_spark):
                outcomes = [self._outcome(step.merge.sql(tables[0]))]
            is_taken = notes == [True]
            if is_taken or step.is_run_by_spark:
                with with_settings(self.spark, {_OURS: "false"}):
                    outcomes.append(self._outcome(step.merge.sql(tables[1])))
            # To read tables takes as long as a MERGE: what a statement did to a row is mostly seen later as well.
            is_read = is_last or (is_taken and step.is_read)
            found = [self._content(table, step) if is_read else "" for table in tables]
        return [Answer(outcomes[0], found[0]), Answer(outcomes[-1], found[1])], is_taken

    def _outcome(self, statement: str) -> str:
        return _text(lambda: text(self.spark.sql(statement).toArrow(), is_ordered=True))

    def _content(self, table: str, step: Step) -> str:
        probes = [f"SELECT {at} probe, count(*) rows FROM {table} WHERE {one}" for at, one in enumerate(step.probes)]

        def counts() -> str:
            found = self.spark.sql(" UNION ALL ".join(probes)).collect() if probes else []
            return ", ".join(f"{step.probes[at]}: {rows}" for at, rows in found)

        rows = _text(lambda: text(self.spark.table(table).toArrow(), is_ordered=False))
        return f"{rows}\n{_text(counts)}"


def _text(asked: Callable[[], str]) -> str:
    """Return an answer, or what the error is called."""
    try:
        return asked()
    except Exception as error:  # noqa: BLE001  any failure of a statement
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        return "error: " + (condition or _CHANGING.sub("", str(error).strip().partition("\n")[0]))


class _LeftToSpark(Exception):
    """The statement needs Spark's join."""


@contextmanager
def _noted(notes: list[bool], *, leaves_out: bool) -> Iterator[None]:
    """Note of each statement whether it ran without Spark's join.

    Args:
        notes: takes the notes.
        leaves_out: whether a statement that needs Spark's join does not run at all.
    """
    original = run.merged

    def merged(*given: Any) -> Any:
        done = original(*given)
        notes.append(done is not None)
        if done is None and leaves_out:
            raise _LeftToSpark
        return done

    run.merged = merged
    try:
        yield
    finally:
        run.merged = original
