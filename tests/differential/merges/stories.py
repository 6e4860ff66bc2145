"""Random tables, and several statements that are merged into each of them one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.differential.merges.statements import Column, Merge, Rows, merge_of, quoted, source_of
from tests.differential.merges.values import COMPARED, KEYS, KINDS, literal, plain_literal

_NAMES = ("v", "Value", "größe", "a b", "select", "v-1", "k_2", "s", "t", "v2", "at", "_x", "B")
# Settings that change what a statement means or how values are stored, with their values; the first is the default.
_SETTINGS = {
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.session.timeZone": ("UTC", "America/New_York", "Asia/Kolkata"),
    "spark.sql.storeAssignmentPolicy": ("ANSI",) * 14 + ("LEGACY", "STRICT"),
    "spark.sql.caseSensitive": ("false",) * 31 + ("true",),
    "spark.sql.parquet.outputTimestampType": ("INT96",) * 12 + ("TIMESTAMP_MICROS",) * 3 + ("TIMESTAMP_MILLIS",),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("CORRECTED",) * 22 + ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.datetimeRebaseModeInWrite": ("CORRECTED",) * 22 + ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.int96RebaseModeInRead": ("CORRECTED",) * 31 + ("LEGACY",),
    "spark.sql.parquet.int96RebaseModeInWrite": ("CORRECTED",) * 31 + ("LEGACY",),
    "spark.sql.parquet.writeLegacyFormat": ("false",) * 7 + ("true",),
}
_ICEBERG_TRANSFORMS = {
    "string": ("{}", "{}", "bucket(3, {})", "truncate(2, {})"),
    "int": ("{}", "bucket(3, {})", "truncate(5, {})"),
    "bigint": ("{}", "bucket(3, {})", "truncate(5, {})"),
    "smallint": ("{}",),
    "tinyint": ("{}",),
    "boolean": ("{}",),
    "date": ("{}", "years({})", "months({})", "days({})", "bucket(3, {})"),
    "timestamp": ("years({})", "months({})", "days({})", "hours({})", "bucket(3, {})"),
    "timestamp_ntz": ("days({})", "{}"),
}
_ICEBERG_PROPERTIES = (
    ("'format-version' = '1'",) + ("",) * 20
    + ("'write.parquet.row-group-size-bytes' = '200'", "'write.target-file-size-bytes' = '1'",
       "'write.parquet.compression-codec' = 'gzip'", "'write.merge.mode' = 'merge-on-read'", "'format-version' = '3'",
       "'write.merge.isolation-level' = 'snapshot'", "'write.metadata.metrics.default' = 'none'",
       "'write.parquet.row-group-size-bytes' = '200', 'write.parquet.row-group-check-min-record-count' = '1'")
)  # fmt: skip
_DELTA_PROPERTIES = (
    *("",) * 24, "'delta.checkpointInterval' = '2'", "'delta.enableDeletionVectors' = 'true'",
    "'delta.columnMapping.mode' = 'name'", "'delta.enableChangeDataFeed' = 'true'",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A table before the first statement.

    Args:
        rows: its rows and columns.
        required: names of columns that hold no nulls.
        layout: its partitions, as SQL.
        properties: as SQL; empty if there are none.
        files: how many statements insert the rows.
        before: further statements, where `{t}` stands for the table.
    """

    rows: Rows
    required: frozenset[str]
    layout: tuple[str, ...]
    properties: str
    files: int
    before: tuple[str, ...]

    def made(self, name: str, form: str, place: str) -> Iterator[str]:
        """Yield the statements that make the table."""
        columns = ", ".join(
            f"{quoted(one.name)} {one.kind}{' NOT NULL' if one.name in self.required else ''}"
            for one in self.rows.columns
        )
        partitions = f" PARTITIONED BY ({', '.join(self.layout)})" if self.layout else ""
        properties = f" TBLPROPERTIES ({self.properties})" if self.properties else ""
        yield f"CREATE TABLE {name} ({columns}) USING {form}{partitions}{place}{properties}"
        rows = self.rows.rows
        for at in range(self.files):
            if part := rows[at :: self.files]:
                yield f"INSERT INTO {name} {replace(self.rows, rows=part).sql}"
        yield from (one.format(t=name) for one in self.before)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement with its source.

    Args:
        settings: of the session.
        source: the rows of the view `b`.
        merge: the statement.
        probes: conditions of queries of the table after it.
        is_run_by_spark: whether Spark runs it where the shortcut declines; otherwise both tables stay as they are.
        is_read: whether the tables are compared after it; after the last statement they always are.
    """

    settings: Mapping[str, str]
    source: Rows
    merge: Merge
    probes: tuple[str, ...]
    is_run_by_spark: bool
    is_read: bool

    def smaller(self) -> Iterator[Step]:
        """Yield smaller forms."""
        yield from (replace(self, source=one) for one in self.source.smaller())
        yield from (replace(self, merge=one) for one in self.merge.smaller())
        for name in self.settings:
            yield replace(self, settings={key: value for key, value in self.settings.items() if key != name})


@dataclass(frozen=True, slots=True)
class Story:
    """A table and its statements."""

    table: Table
    steps: tuple[Step, ...]

    def until(self, step: int) -> Story:
        """Return the story up to a step."""
        return replace(self, steps=self.steps[: step + 1])

    def smaller(self) -> Iterator[Story]:
        """Yield smaller forms, the ones that leave out most first."""
        if len(self.steps) > 1:
            yield replace(self, steps=self.steps[-1:])
        for at in range(len(self.steps) - 1):
            yield replace(self, steps=self.steps[:at] + self.steps[at + 1 :])
        if self.table.before or self.table.properties or self.table.files > 1:
            yield replace(self, table=replace(self.table, before=(), properties="", files=1))
        for rows in self.table.rows.smaller():
            yield replace(self, table=replace(self.table, rows=rows))
        for at, step in enumerate(self.steps):
            for other in step.smaller():
                yield replace(self, steps=(*self.steps[:at], other, *self.steps[at + 1 :]))
        if self.table.layout:
            yield replace(self, table=replace(self.table, layout=()))
        named = f"{self.table.layout} {self.table.before} {[(one.merge, one.probes) for one in self.steps]}".casefold()
        for column in self.table.rows.columns:
            if quoted(column.name).casefold() not in named and len(self.table.rows.columns) > 2:
                rows = self.table.rows.without(column.name)
                steps = (replace(one, source=one.source.without(column.name)) for one in self.steps)
                yield Story(replace(self.table, rows=rows), tuple(steps))

    def text(self, form: str) -> str:
        """Return the story as statements that a person can run."""
        lines = list(self.table.made("ours", form, ""))
        for step in self.steps:
            lines += [f"SET {name}={value}" for name, value in step.settings.items()]
            lines += [f"CREATE OR REPLACE TEMP VIEW b AS {step.source.sql}", step.merge.sql("ours")]
        return ";\n    ".join(lines)


def story(random: Random, form: str, steps: int) -> Story:
    """Return a random table with statements."""
    made = _keys(random)
    for name in random.sample(_NAMES, random.randrange(2, 6)):
        made.append(Column(name, random.choice(KINDS if random.random() < 0.6 else COMPARED)))
    keys = [one.name for one in made if one.name.startswith("id")]
    if random.random() < 0.3:
        random.shuffle(made)
    columns = tuple(one for one in made if not _is_refused(one.kind, form, random))
    required = frozenset(one.name for one in columns if random.random() < 0.04)
    pools = {
        one.name: [literal(one.kind, random, 0 if one.name in required else 0.08) for _ in range(14)]
        for one in columns
        if one.name in keys
    }
    rows = tuple(
        tuple(
            random.choice(pools[one.name])
            if one.name in pools
            else literal(one.kind, random, 0 if one.name in required else 0.15)
            for one in columns
        )
        for _ in range(random.choice((0, 3, 12, 12, 25, 25)))
    )
    properties = random.choice(_ICEBERG_PROPERTIES if form == "iceberg" else _DELTA_PROPERTIES)
    layout = _layout(columns, form, random)
    before, after = _before(columns, keys, layout, form, random)
    table = Table(Rows(columns, rows), required, layout, properties, random.choice((1, 1, 2, 3)), before)
    return Story(table, tuple(_step(after, keys, pools, random) for _ in range(steps)))


def _keys(random: Random) -> list[Column]:
    keys = [Column("id", random.choice(KEYS))]
    if random.random() < 0.35:
        keys.append(Column("id2", random.choice(KEYS)))
    return keys


def _is_refused(kind: str, form: str, random: Random) -> bool:
    """Return whether a type is left out most of the time, because Spark merges all tables that have it."""
    return form == "delta" and "timestamp_ntz" in kind and random.random() < 0.97


def _layout(columns: tuple[Column, ...], form: str, random: Random) -> tuple[str, ...]:
    if random.random() < 0.6:
        return ()
    if form == "delta":
        forms = dict.fromkeys((*KEYS, *(("decimal(9,2)", "double") if random.random() < 0.05 else ())), ("{}",))
    else:
        forms = _ICEBERG_TRANSFORMS
    able = [one for one in columns if one.kind in forms]
    if random.random() < 0.5:
        able = [one for one in able if one.name.startswith("id")]
    chosen = random.sample(able, min(len(able), len(columns) - 1, random.choice((1, 1, 1, 2))))
    return tuple(random.choice(forms[one.kind]).format(quoted(one.name)) for one in chosen)


def _before(
    columns: tuple[Column, ...], keys: list[str], layout: tuple[str, ...], form: str, random: Random
) -> tuple[tuple[str, ...], tuple[Column, ...]]:
    """Return statements that change a table before the first MERGE, and the columns that it has then."""
    chosen = random.random()
    if chosen < 0.8:
        return (), columns
    if chosen < 0.9:
        more = Column("more", random.choice(KINDS[:14]))
        if not _is_refused(more.kind, form, random):
            return (f"ALTER TABLE {{t}} ADD COLUMN more {more.kind}",), (*columns, more)
    if form == "delta":
        return (f"DELETE FROM {{t}} WHERE {quoted(columns[0].name)} IS NULL",), columns
    able = [one for one in columns if one.name not in keys and one.name not in str(layout)]
    if not able:
        return (), columns
    one = random.choice(able)
    if random.random() < 0.5:
        rename = f"ALTER TABLE {{t}} RENAME COLUMN {quoted(one.name)} TO renamed"
        return (rename,), tuple(Column("renamed", one.kind) if each == one else each for each in columns)
    if len(columns) < 3:
        return (), columns
    again = f"ALTER TABLE {{t}} ADD COLUMN {quoted(one.name)} string"
    drop = f"ALTER TABLE {{t}} DROP COLUMN {quoted(one.name)}"
    return (drop, again), (*(each for each in columns if each != one), Column(one.name, "string"))


def _step(columns: tuple[Column, ...], keys: list[str], pools: dict[str, list[str]], random: Random) -> Step:
    settings = {name: random.choice(values) for name, values in _SETTINGS.items()}
    settings = {name: value for name, value in settings.items() if value != _SETTINGS[name][0]}
    kept = [name for name in keys if any(one.name == name for one in columns)] or [columns[0].name]
    source = source_of(columns, kept, pools, random)
    merge = merge_of(columns, source.columns, kept, random)
    probes = tuple(_probes(columns, random))
    return Step(settings, source, merge, probes, is_run_by_spark=random.random() < 0.15, is_read=random.random() < 0.4)


def _probes(columns: tuple[Column, ...], random: Random) -> Iterator[str]:
    """Yield a condition that leaves out files by what the table knows of their values; most of the time none."""
    if random.random() < 0.6:
        return
    one = random.choice(columns)
    name = quoted(one.name)
    if one.kind in {"float", "double"}:
        yield f"isnan({name})"
    elif one.kind in COMPARED or one.kind.startswith("decimal"):
        yield f"{name} {random.choice(('=', '<', '>=', '<=>'))} {plain_literal(one.kind, random)}"
    else:
        yield f"{name} IS {random.choice(('', 'NOT '))}NULL"
