"""The session's zone: casts, functions in Python, files and partitions beside Spark's own in the same session.

Of files, the instants are also read by DuckDB and pyarrow, which know nothing of the session.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow.parquet as pq

from gluepot.engine.session_zone import SETTING, session_zone
from gluepot.frames.time_zone import MICROS, TimeZone
from gluepot.tables.table import open_table
from tests.differential.kind import Difference, Round, World

ZONES = (
    "America/New_York", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Asia/Kolkata", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "America/St_Johns", "America/Sao_Paulo", "Africa/Monrovia",
    "Africa/Casablanca", "Asia/Tehran", "America/Caracas", "Europe/Amsterdam", "Asia/Gaza", "Antarctica/Troll",
    "Asia/Manila", "Pacific/Kiritimati", "+05:30", "-03:00", "+14:00", "GMT+1", "PST", "UTC", "Asia/Tokyo",
)  # fmt: skip
TABLES = 10
ROWS = 12

_STORED = "spark.sql.parquet.outputTimestampType"
_EPOCH = dt.datetime(1970, 1, 1)
# Years 2 to 9998, which Python has in every zone; and those that a timestamp has.
_FIRST, _LAST = -62_104_000_000, 253_370_000_000
_FARTHEST = 9_000_000_000_000
_WHOLE = len("2024-07-01T23:30:00.000-04:00")
_JUNK = ("", " ", "now", "2024", "2024-2", "2024-02-30", "2024-06-31 25:00:00", "null", "2024-1-5 4", "0001")
_SUFFIXES = ("", "", "", "", "Z", "+01:00", "-05:30", " Europe/Paris", "+14:00", " UTC")


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "zones"
    unit = "tables"

    def __init__(self, tables: int = TABLES, checks: Sequence[str] | None = None) -> None:
        """Make the kind.

        Args:
            tables: how many a round has.
            checks: names of the checks to run; None for all.
        """
        self._tables = tables
        self._checks = [one for name, one in _CHECKS.items() if checks is None or name in checks]

    def round(self, random: Random, world: World) -> Round:
        """Run transforms and writes over some tables in one zone."""
        from awsglue.context import GlueContext

        spark, name = world.spark(), random.choice(ZONES)
        result = Round(cases=self._tables, taken=self._tables)
        context = GlueContext(spark.sparkContext)
        with in_zone(spark, name, random.choice(("conf", "sql"))):
            zone = session_zone(spark)
            rows = [row for _ in range(self._tables) for row in _rows(random, zone)]
            held = [(at, *row) for at, row in enumerate(rows)]
            given = _frame(spark, held)
            if random.random() < 0.5:
                path = str(world.folder / "given")
                given.coalesce(1).write.parquet(path)
                dyf = context.create_dynamic_frame_from_options("s3", {"paths": [path]}, "parquet")
            else:
                from awsglue.dynamicframe import DynamicFrame

                dyf = DynamicFrame.fromDF(given, context, "x")
            for check in self._checks:
                for row, ours, theirs in check(given, dyf, world.folder, random):
                    if ours != theirs:
                        case = f"{name}: {check.__name__}: {held[row] if isinstance(row, int) else row}"
                        result.differences.append(Difference(case, repr(ours), repr(theirs)))
        return result


@contextmanager
def in_zone(spark: Any, name: str, way: str) -> Iterator[None]:
    """Give a session a zone, by its configuration or in SQL, and afterwards the one from before."""
    before = {one: spark.conf.get(one) for one in (SETTING, _STORED)}
    spark.conf.set(_STORED, "TIMESTAMP_MICROS")  # INT96 is not read before the year -4713
    if way == "sql":
        spark.sql(f"SET TIME ZONE '{name}'")
    else:
        spark.conf.set(SETTING, name)
    try:
        yield
    finally:
        for one, value in before.items():
            spark.conf.set(one, value)


def _rows(random: Random, zone: TimeZone) -> list[tuple[Any, ...]]:
    """Return rows of a text, an instant that Python has, one of any year, and a day."""
    near = random.choice((_usual, _near_changes, _near_changes, _far))
    rows = []
    for _ in range(ROWS):
        secs = near(random, zone)
        fraction = random.choice((0, 0, 0, 500_000, 123_000, 1, 999_999, 120))
        local = secs + zone.offset_at(secs) + random.choice((0, 0, 1800, -3600))
        text = _text(random, local, fraction)
        wide = random.choice((secs, random.randrange(-_FARTHEST, _FARTHEST)))
        days = random.choice((local // 86_400, random.randrange(-700_000, 2_900_000)))
        row = (text, secs * MICROS + fraction, wide * MICROS + fraction, days)
        rows.append(tuple(None if random.random() < 0.05 else value for value in row))
    return rows


def _usual(random: Random, _: TimeZone) -> int:
    return random.randrange(0, 2_000_000_000)


def _near_changes(random: Random, zone: TimeZone) -> int:
    starts = [one for one in zone.starts if _FIRST < one < _LAST]
    if not starts:
        return _usual(random, zone)
    known = [one for one in starts if one < 2_200_000_000] or starts
    return random.choice(random.choice((known, starts))) + random.choice(
        (-3601, -3600, -1801, -1800, -1, 0, 1, 1799, 1800, 3599, 3600, 7200, -86_400, 86_400)
    )


def _far(random: Random, _: TimeZone) -> int:
    return random.choice((_FIRST, _LAST, random.randrange(_FIRST, _LAST), random.randrange(_FIRST, 0)))


def _text(random: Random, local_secs: int, fraction: int) -> str:
    if random.random() < 0.1:
        return random.choice(_JUNK)
    at = _EPOCH + dt.timedelta(seconds=local_secs, microseconds=fraction)
    plain = at.isoformat(random.choice("T "))
    if random.random() < 0.2:
        plain = plain[: random.choice((10, 16, 19))]
    suffix = random.choice(_SUFFIXES) if len(plain) > 16 else ""
    return random.choice(("", "", "", " ")) + plain + suffix


def _frame(spark: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    frame = spark.createDataFrame(list(rows), "id long, s string, m long, w long, n long")
    return frame.selectExpr(
        "id",
        "s",
        "timestamp_micros(m) t",
        "timestamp_micros(w) w",
        "date_from_unix_date(cast(n as int)) d",
        "named_struct('t', timestamp_micros(m)) r",
        "array(timestamp_micros(m), null) l",
    )


Found = Iterator[tuple[Any, Any, Any]]


def _beside(ours: Any, theirs: Any) -> Found:
    """Yield the values of both frames by id; each has an id and a column of longs, doubles or texts per question."""
    mine, others = ({row[0]: tuple(row)[1:] for row in frame.collect()} for frame in (ours, theirs))
    for key in sorted({*mine, *others}):
        yield key, mine.get(key), others.get(key)


def _casts(given: Any, dyf: Any, _: Path, __: Random) -> Found:
    targets = (
        ("s", "timestamp"), ("s", "date"), ("t", "string"), ("w", "string"), ("t", "date"), ("w", "date"),
        ("d", "timestamp"), ("d", "string"), ("t", "long"), ("w", "double"), ("r.t", "string"), ("r.t", "date"),
    )  # fmt: skip
    kinds = {"s": "string", "t": "timestamp", "w": "timestamp", "r.t": "timestamp", "d": "date"}
    named = [(source, kinds[source], f"c{at}", target) for at, (source, target) in enumerate(targets)]
    mapped = dyf.apply_mapping([("id", "long", "id", "long"), *named]).toDF()
    shown = [_shown(f"c{at}", target) for at, (_, target) in enumerate(targets)]
    ours = mapped.selectExpr("id", *shown)
    spark_names = {"long": "bigint"}
    casts = [
        f"try_cast({source} as {spark_names.get(target, target)}) c{at}" for at, (source, target) in enumerate(targets)
    ]
    yield from _beside(ours, given.selectExpr("id", *casts).selectExpr("id", *shown))


def _shown(column: str, kind: str) -> str:
    """Return an expression whose value Python shows without a zone."""
    return {"timestamp": f"unix_micros({column})", "date": f"unix_date({column})"}.get(kind, column)


def _choices(given: Any, dyf: Any, _: Path, __: Random) -> Found:
    resolved = dyf.resolveChoice(specs=[("s", "cast:timestamp"), ("d", "cast:timestamp"), ("t", "cast:string")]).toDF()
    theirs = given.selectExpr(
        "id", "unix_micros(try_cast(s as timestamp))", "unix_micros(cast(d as timestamp))", "cast(t as string)"
    )
    yield from _beside(resolved.selectExpr("id", "unix_micros(s)", "unix_micros(d)", "t"), theirs)


def _comparisons(given: Any, dyf: Any, _: Path, random: Random) -> Found:
    texts = [row[0] for row in given.selectExpr("cast(t as string)").collect() if row[0] and len(row[0]) == 19]
    bound = random.choice(sorted(texts) or ["2024-11-03 01:30:00"])
    split = dyf.split_rows({"t": {">=": bound}}, "later", "others")["later"].toDF()
    theirs = given.where(f"t >= timestamp'{bound}'")
    yield from _beside(split.selectExpr("id", "1"), theirs.selectExpr("id", "1"))


def _functions(given: Any, dyf: Any, _: Path, __: Random) -> Found:
    def shown(record: Any) -> dict[str, Any]:
        at = record["t"]
        naive = None if at is None else at.replace(tzinfo=None)
        first = None if naive is None else naive.replace(fold=0)
        text = None if naive is None else naive.strftime("%m-%d %H:%M:%S.%f")
        inner, item = record["r"]["t"], record["l"][0]
        return {"id": record["id"], "same": at, "naive": naive, "first": first, "text": text, "r": inner, "l": [item]}

    def is_morning(record: Any) -> bool:
        return record["t"] is not None and bool(record["t"].hour < 12)

    dyf = dyf.drop_fields(["w"])  # Python has no such years
    columns = [
        "unix_micros(same)",
        "unix_micros(naive)",
        "unix_micros(first)",
        "text",
        "unix_micros(r)",
        "unix_micros(l[0])",
    ]
    mapped = dyf.map(shown).toDF()
    theirs = given.selectExpr(
        "id", "t same", "t naive", "cast(cast(t as string) as timestamp) first",
        "date_format(t, 'MM-dd HH:mm:ss.SSSSSS') text", "t r", "array(t) l",
    )  # fmt: skip
    yield from _beside(mapped.selectExpr("id", *columns), theirs.selectExpr("id", *columns))
    yield from _beside(
        dyf.filter(is_morning).toDF().selectExpr("id", "1"), given.where("hour(t) < 12").selectExpr("id", "1")
    )


def _texts(given: Any, dyf: Any, folder: Path, random: Random) -> Found:
    """Write CSV or JSON; Spark and DuckDB read the instants, and find Spark's own text where that loses nothing."""
    kind = random.choice(("csv", "json"))
    ours, theirs = str(folder / "ours"), str(folder / "theirs")
    dyf.select_fields(["id", "t"]).write("s3", {"path": ours}, kind)
    given.select("id", "t").write.format(kind).option("header", "true").save(theirs)
    reader = given.sparkSession.read.schema("id long, t timestamp").option("header", "true").format(kind)
    expected = given.selectExpr("id", "unix_micros(t)")
    yield from _beside(reader.load(ours).selectExpr("id", "unix_micros(t)"), expected)
    instants = {row[0]: row[1] for row in expected.collect()}
    read = (
        "read_csv('{}/run*', header=true, all_varchar=true)"
        if kind == "csv"
        else "read_json('{}/run*', columns={{id: 'VARCHAR', t: 'VARCHAR'}})"
    )
    mine = _of_files(read.format(ours))
    for key, text in mine.items():
        yield key, None if text is None else _micros(text), instants[key]
    other = _of_files(read.format(theirs).replace("run*", "part*"))
    for key, text in other.items():
        # Ours has microseconds, and times with seconds in their offset in UTC.
        if text is not None and instants[key] % 1000 == 0 and (text.endswith("Z") or len(text) == _WHOLE):
            yield key, mine[key], text


def _of_files(source: str) -> dict[int, str | None]:
    with duckdb.connect() as db:
        found = db.execute(f"SELECT CAST(id AS BIGINT), t FROM {source}").fetchall()
    return {row[0]: row[1] or None for row in found}


def _micros(text: str) -> int:
    """Return the instant of an ISO text, by Python's own reader."""
    return (dt.datetime.fromisoformat(text) - _EPOCH.replace(tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def _partitions(given: Any, dyf: Any, folder: Path, random: Random) -> Found:
    """Partition by a timestamp and a day made of it; Spark reads the folders, and gives its own the same names."""
    ours, theirs = folder / "parts-ours", folder / "parts-theirs"
    mapped = dyf.apply_mapping(
        [("id", "long", "id", "long"), ("t", "timestamp", "t", "timestamp"), ("t", "timestamp", "day", "date")]
    )
    kind = random.choice(("glueparquet", "json"))
    mapped.write("s3", {"path": str(ours), "partitionKeys": ["t", "day"]}, kind)
    # The name of a folder does not say which of two hours it means: it is read as the first. Spark cannot write both.
    once = given.selectExpr("id", "cast(cast(t as string) as timestamp) t", "to_date(t) day")
    once.coalesce(1).write.partitionBy("t", "day").parquet(str(theirs))
    yield "names of folders", _folders(ours), _folders(theirs)
    reader = given.sparkSession.read.schema("id long, t timestamp, day date")
    read = reader.format("json" if kind == "json" else "parquet").load(str(ours))
    expected = once.selectExpr("id", "unix_micros(t)", "unix_date(day)")
    yield from _beside(read.selectExpr("id", "unix_micros(t)", "unix_date(day)"), expected)
    table = open_table(str(ours)).to_arrow()
    instants = {row[0]: row[1] for row in expected.collect()}
    for key, at in zip(table["id"].to_pylist(), table["t"].cast("int64").to_pylist(), strict=True):
        yield key, at, instants[key]


def _folders(root: Path) -> list[str]:
    found = {str(path.relative_to(root)) for path in root.glob("t=*/day=*")}
    return sorted(found)


def _parquet(given: Any, dyf: Any, folder: Path, _: Random) -> Found:
    path = folder / "whole"
    dyf.select_fields(["id", "t"]).write("s3", {"path": str(path)}, "glueparquet")
    instants: Mapping[int, Any] = {row[0]: row[1] for row in given.selectExpr("id", "unix_micros(t)").collect()}
    for file in sorted(path.glob("*.parquet")):
        table = pq.read_table(file, partitioning=None)
        for key, at in zip(table["id"].to_pylist(), table["t"].cast("int64").to_pylist(), strict=True):
            yield key, at, instants[key]


_CHECKS = {
    "casts": _casts,
    "choices": _choices,
    "comparisons": _comparisons,
    "functions": _functions,
    "texts": _texts,
    "partitions": _partitions,
    "parquet": _parquet,
}
