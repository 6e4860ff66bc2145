"""`df.write` of a query that DuckDB answers, beside the same write with Spark's own rows.

Both writes leave files. They are compared by folder: the rows as pyarrow reads them, lines of text as they are, and what
the files say about themselves. Of some, the rows are read back by Spark, too.
"""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet

from gluepot.engine.native import run as native
from tests.differential.kind import Difference, Round, World, shrink
from tests.differential.rows import text
from tests.differential.sql.tables import tables
from tests.native_tables import read_tables, with_settings

_WRITES = 20
_TRIES = 25
# What makes Spark faster with few rows, and changes no answer.
_FAST = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Settings that change what a write does, with their values; the first is the default and comes more often.
_SETTINGS: dict[str, tuple[str, ...]] = {
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.caseSensitive": ("false", "false", "true"),
    "spark.sql.sources.partitionOverwriteMode": ("static", "static", "dynamic"),
    "spark.sql.parquet.outputTimestampType": ("TIMESTAMP_MICROS", "INT96", "TIMESTAMP_MILLIS"),
    "spark.sql.parquet.writeLegacyFormat": ("false", "false", "true"),
    "spark.sql.parquet.compression.codec": ("snappy", "snappy", "zstd"),
    "spark.sql.files.maxRecordsPerFile": ("0", "0", "2"),
    "spark.sql.session.timeZone": (*["UTC"] * 9, "America/New_York"),
    "spark.sql.parquet.datetimeRebaseModeInWrite": (*["CORRECTED"] * 9, "LEGACY", "EXCEPTION"),
    "spark.sql.parquet.int96RebaseModeInWrite": (*["CORRECTED"] * 9, "LEGACY"),
    "spark.sql.parquet.datetimeRebaseModeInRead": (*["CORRECTED"] * 9, "LEGACY"),
    "spark.sql.legacy.timeParserPolicy": (*["CORRECTED"] * 5, "LEGACY"),
    "spark.sql.jsonGenerator.ignoreNullFields": (*["true"] * 5, "false"),
    "spark.sql.parquet.fieldId.write.enabled": (*["true"] * 9, "false"),
}
# Those that leave a query to Spark, with some of their values at least.
_DECLINED = {
    "spark.sql.session.timeZone",
    "spark.sql.parquet.datetimeRebaseModeInWrite",
    "spark.sql.parquet.int96RebaseModeInWrite",
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.jsonGenerator.ignoreNullFields",
    "spark.sql.parquet.fieldId.write.enabled",
}
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "parquet": {"compression": ("gzip", "none", "zstd"), "maxRecordsPerFile": ("1", "3")},
    "orc": {"compression": ("zlib", "none"), "maxRecordsPerFile": ("2",)},
    "json": {
        "compression": ("gzip",),
        "ignoreNullFields": ("true", "false"),
        "timestampFormat": ("yyyy-MM-dd HH:mm:ss.SSSSSS XXX",),
        "dateFormat": ("dd/MM/yyyy",),
        "timeZone": ("Asia/Tokyo",),
        "lineSep": ("\n",),
    },
    "csv": {
        "compression": ("gzip",),
        "header": ("true", "false"),
        "sep": (";", "\t"),
        "nullValue": ("-", "null"),
        "emptyValue": ("", "EMPTY"),
        "quoteAll": ("true",),
        "escape": ('"',),
        "timestampFormat": ("yyyy-MM-dd HH:mm:ss.SSSSSS XXX",),
        "timestampNTZFormat": ("yyyy-MM-dd HH:mm",),
        "dateFormat": ("dd/MM/yyyy",),
        "ignoreLeadingWhiteSpace": ("false",),
        "encoding": ("ISO-8859-1", "UTF-16"),
    },
}
_PARTITIONS = (
    "", None, "__HIVE_DEFAULT_PARTITION__", "a/b", "%", "%2F", "é", "日本", "a b", " ", "a=b", "a:b", "..", ".", "_x", "01",
    "1", "2024-01-01", "null", "true", "a\nb", "\t", "'", '"', "\\", "{}", "*?", "#", "😀", "A", "a",
)  # fmt: skip
_NAMES = ("c", "C", "a b", "é", "x.y", "a,b", "Straße", "_c", "日本", "p", "1", "a=b", "c;d", "select")
_PLAIN = "iilhymnvedgfsctzwbx"
_NESTED = ("tags", "nums", "r", "us", "um", "ud", "ut", "rs")
_AGGREGATES = (
    "sum({i})",
    "max({s})",
    "min({d})",
    "max({t})",
    "count(*)",
    "sum({m})",
    "avg({m})",
    "min({z})",
    "max({w})",
)
# How a line begins that is about a file and not a row.
_ABOUT = "about: "
_MINUS_ZERO, _ZERO = "-0.0 8000000000000000", "0.0 0000000000000000"
# The number of a file, and the name of an object of Java's, differ from write to write.
_NUMBER = re.compile(r"\.c\d+")
_OBJECT = re.compile(r"\bo\d+\b")
_PATH = re.compile(r"(file:)?/\S+/(ours|theirs)")


@dataclass(frozen=True, slots=True)
class Write:
    """A write.

    Args:
        columns: expressions with their names.
        form: of the query, with `<columns>` for the columns.
        layout: `coalesce`, `repartition` or nothing.
        format: `parquet`, `json`, `csv` or `orc`.
        mode: of the writer; None for the default.
        partitions: names of columns.
        options: of the writer.
        is_again: whether the target has been written before, in the same way.
        settings: of the session.
        call: `save`, or the name of the format.
    """

    columns: tuple[tuple[str, str], ...]
    form: str
    layout: str
    format: str
    mode: str | None
    partitions: tuple[str, ...]
    options: Mapping[str, str]
    is_again: bool
    settings: Mapping[str, str]
    call: str

    @property
    def sql(self) -> str:
        """The query."""
        return self.form.replace("<columns>", ", ".join(f"{text} as `{name}`" for text, name in self.columns))

    def smaller(self) -> Iterator[Write]:
        """Yield writes with fewer parts."""
        for at, (_, name) in enumerate(self.columns):
            if name not in self.partitions and len(self.columns) > 1:
                yield replace(self, columns=self.columns[:at] + self.columns[at + 1 :])
        for name in self.settings:
            yield replace(self, settings={key: value for key, value in self.settings.items() if key != name})
        for name in self.options:
            yield replace(self, options={key: value for key, value in self.options.items() if key != name})
        for name in self.partitions:
            yield replace(self, partitions=tuple(one for one in self.partitions if one != name))
        if self.is_again:
            yield replace(self, is_again=False)
        if self.layout:
            yield replace(self, layout="")


class Kind:
    """Random writes."""

    name = "writes"
    unit = "writes"

    def round(self, random: Random, world: World, writes: int = _WRITES) -> Round:
        """Compare some writes of queries over one set of tables."""
        from awsglue.context import GlueContext

        spark = world.spark()
        total = Round()
        with with_settings(spark, _FAST):
            made = tables(random)
            special = pa.array(random.choices(_PARTITIONS, k=made["t"].num_rows), pa.string())
            made["t"] = made["t"].append_column("p", special)
            read_tables(GlueContext(spark.sparkContext), world.folder, {f"{name}0": one for name, one in made.items()})
            for number in range(writes):
                folder = world.folder / f"write{number}"
                self._compare(spark, random_write(random), folder, total, reads_back=random.random() < 0.2)
        return total

    def _compare(self, spark: Any, write: Write, folder: Path, total: Round, *, reads_back: bool) -> None:
        def answers(one: Write) -> tuple[bool, Any, Any]:
            shutil.rmtree(folder, ignore_errors=True)
            with with_settings(spark, one.settings):
                with _counted() as runs:
                    ours = _outcome(spark, one, folder / "ours", reads_back=reads_back)
                with with_settings(spark, {native.SETTING: "false"}):
                    theirs = _outcome(spark, one, folder / "theirs", reads_back=reads_back)
            return bool(runs), ours, theirs

        is_taken, ours, theirs = answers(write)
        total.cases += 1
        total.taken += is_taken
        if ours != theirs:

            def differs(one: Write) -> bool:
                _, left, right = answers(one)
                return bool(left != right)

            small = shrink(write, Write.smaller, differs, _TRIES)
            _, ours, theirs = answers(small)
            left, right = _first_difference(ours, theirs)
            total.differences.append(Difference(f"{small.sql} {small}"[:3000], left, right))
        shutil.rmtree(folder, ignore_errors=True)


def random_write(random: Random) -> Write:
    """Return a write of a random query over the tables."""
    names = random.sample(_NAMES, random.choice([1, 2, 4, 7]))
    kind = random.choice([*["window", "join", "group"] * 4, "distinct", "plain"])
    columns: list[tuple[str, str]]
    if kind == "join":
        columns = [(random.choice([*_PLAIN, *_NESTED]), name) for name in names]
        form = "select <columns> from t0 join u0 on k = uk"
    elif kind == "group":
        columns = [(_aggregate(random), name) for name in names]
        columns[0] = (random.choice(["p", "k", "c", "b", "t"]), names[0])
        form = f"select <columns> from t0 group by {columns[0][0]}"
    elif kind == "distinct":
        columns = [(random.choice(_PLAIN.replace("d", "").replace("f", "")), name) for name in names]
        form = "select distinct <columns> from t0"
    else:
        columns = [(random.choice(_PLAIN), name) for name in names]
        form = "select <columns> from t0"
        if kind == "window":
            columns.append(("row_number() over (order by id)", "number"))
    partitions: tuple[str, ...] = ()
    if random.random() < 0.5:
        if kind != "group":
            columns.append((random.choice(["p", "p", "p", "k", "c", "b", "t", "z", "m", "d"]), "part"))
            partitions = ("part",)
            if kind != "distinct" and random.random() < 0.3:
                columns.append((random.choice(["p", "k", "b", "y"]), "Other"))
                partitions = random.choice([("part", "Other"), ("Other", "part")])
        elif len(columns) > 1:
            partitions = (columns[0][1],)
    chosen = random.choice(["parquet", "parquet", "json", "csv", "orc"])
    known = _OPTIONS[chosen]
    options = {name: random.choice(known[name]) for name in random.sample([*known], random.choice([0, 0, 1, 2]))}
    rare = random.random() < 0.15
    known_settings = [name for name in _SETTINGS if (name in _DECLINED) == rare]
    settings = {
        name: random.choice(_SETTINGS[name]) for name in random.sample(known_settings, random.choice([0, 1, 3]))
    }
    return Write(
        tuple(columns),
        form,
        random.choice(["", "", "coalesce", "repartition"]),
        chosen,
        random.choice([None, "append", "overwrite", "overwrite", "ignore", "error"]),
        partitions,
        options,
        random.random() < 0.3,
        settings,
        random.choice(["save", chosen]),
    )


def _aggregate(random: Random) -> str:
    return re.sub(r"\{(\w)\}", lambda found: found[1], random.choice(_AGGREGATES))


@contextmanager
def _counted() -> Iterator[list[str]]:
    """Give a list that has an entry for each query that DuckDB ran."""
    runs: list[str] = []
    original = native._run

    def counted(duckdb: Any, query: Any, *rest: Any) -> str:
        path = original(duckdb, query, *rest)
        runs.append(path)
        return path

    native._run = counted
    try:
        yield runs
    finally:
        native._run = original


def _outcome(spark: Any, write: Write, target: Path, *, reads_back: bool) -> Any:
    """Write, and return what is there then; or the error."""
    error = ""
    for _ in range(1 + write.is_again):
        try:
            frame = spark.sql(write.sql)
            if write.layout:
                frame = getattr(frame, write.layout)(1)
            _write(frame, write, str(target))
        except Exception as failed:  # noqa: BLE001  any failure of a write
            # The values that a message shows depend on which row comes first.
            shown = _OBJECT.sub("", _PATH.sub("TARGET", str(failed)))
            error += f"{type(failed).__name__} {shown.split(chr(10))[0][:60]}; "
    found: dict[str, Any] = {"error": error}
    if target.exists():
        found["folders"] = sorted(one.relative_to(target).as_posix() for one in target.rglob("*") if one.is_dir())
        found["files"] = _content(target, write)
        if (reads_back or write.format == "orc") and not error:
            found["rows"] = _read_back(spark, write, target)
    return found


def _write(frame: Any, write: Write, path: str) -> None:
    writer = frame.write.options(**write.options)
    if write.mode:
        writer = writer.mode(write.mode)
    if write.partitions:
        writer = writer.partitionBy(*write.partitions)
    if write.call == "save":
        writer.format(write.format).save(path)
    else:
        getattr(writer, write.call)(path)


def _read_back(spark: Any, write: Write, target: Path) -> str:
    try:
        read = spark.read.options(**write.options).format(write.format).load(str(target))
        rows = str(text(read.toArrow(), is_ordered=False))
        # ORC's reader takes a batch that begins with -0.0 and goes on with 0.0 for one value that repeats.
        return "\n".join(sorted(rows.replace(_MINUS_ZERO, _ZERO).split("\n"))) if write.format == "orc" else rows
    except Exception as failed:  # noqa: BLE001  any failure of a read
        return f"{type(failed).__name__} {_OBJECT.sub('o', _PATH.sub('TARGET', str(failed)))[:60]}"


def _content(target: Path, write: Write) -> dict[str, Any]:
    """Return rows and what the files say about themselves, by folder and ending of the file."""
    content: dict[str, list[str]] = {}
    for path in sorted(target.rglob("part-*")):
        ending = _NUMBER.sub("", path.name[path.name.index(".") :])
        here = content.setdefault(f"{path.parent.relative_to(target).as_posix()} {ending}", [])
        read = {"parquet": _parquet, "orc": _orc}.get(write.format, _lines)
        here += read(path, write)
    # How many files there are is not compared, and each file says what it is.
    return {
        place: sorted({one for one in rows if one.startswith(_ABOUT)})
        + sorted(one for one in rows if not one.startswith(_ABOUT))
        for place, rows in content.items()
    }


def _parquet(path: Path, _write: Write) -> list[str]:
    with parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
        metadata = file.metadata
        own = {key.decode(): value.decode() for key, value in (metadata.metadata or {}).items()}
        groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
        codecs = sorted({group.column(at).compression for group in groups for at in range(group.num_columns)})
        about = f"{_ABOUT}{own} {codecs} {str(file.schema).partition(chr(10))[2]} {metadata.format_version}"
        return [about] * bool(groups) + _texts(file.read())


def _orc(path: Path, _write: Write) -> list[str]:
    file = orc.ORCFile(path)
    about = [f"{_ABOUT}{file.compression} {file.schema}"] * bool(file.nrows)
    try:
        return about + _texts(file.read())
    except pa.ArrowInvalid:  # timestamps that nanoseconds cannot hold; Spark reads the rows back
        return about


def _texts(table: pa.Table) -> list[str]:
    return str(text(table, is_ordered=False)).split("\n")[1:]


def _lines(path: Path, write: Write) -> list[str]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    text = data.decode({"UTF-16": "utf-16"}.get(write.options.get("encoding", ""), "latin-1"))
    first, *lines = text.removesuffix("\n").split("\n") if text else [""]
    is_header = write.format == "csv" and write.options.get("header") == "true"
    return [f"{_ABOUT}{first}" if is_header or not text else first, *lines]


def _first_difference(ours: Any, theirs: Any) -> tuple[str, str]:
    for part in ("error", "folders", "files", "rows"):
        left, right = ours.get(part), theirs.get(part)
        if left != right and isinstance(left, dict) and isinstance(right, dict):
            place = next(one for one in sorted({*left, *right}) if left.get(one) != right.get(one))
            return f"{place}: {left.get(place)}"[:1500], f"{place}: {right.get(place)}"[:1500]
        if left != right:
            return f"{part} {left}"[:1500], f"{part} {right}"[:1500]
    return "", ""
