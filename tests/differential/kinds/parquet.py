"""Parquet files: our reader beside the table that pyarrow wrote, with the types that Spark reads it in."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.files.formats.retyping import as_type
from gluepot.core.errors import PermanentError
from tests.differential.kind import Difference, Round, World
from tests.unit.files.reading import chunks

FILES = 25
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Make = Callable[[Random], Any]


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "parquet"
    unit = "files"

    def round(self, random: Random, world: World) -> Round:
        """Compare some files."""
        result = Round()
        folder = world.folder / "files"
        folder.mkdir()
        for _ in range(FILES):
            rows = random.choice([0, 1, 3, 50])
            columns = [_column(random, rows) for _ in range(random.choice([1, 2, 5]))]
            table = pa.table({f"c{number}": values for number, (values, _) in enumerate(columns)})
            has_int96 = random.random() < 0.2
            parquet.write_table(
                table,
                folder / "a.parquet",
                compression=random.choice(["none", "snappy", "gzip", "zstd"]),
                use_dictionary=random.random() < 0.5,
                data_page_version=random.choice(["1.0", "2.0"]),
                row_group_size=random.choice([1, 7, 1000]),
                use_compliant_nested_type=random.random() < 0.5,
                store_schema=random.random() < 0.5,
                use_deprecated_int96_timestamps=has_int96,
            )
            wanted: Any = [list(row) for row in zip(*(values for _, values in columns), strict=True)]
            zones = [zone for values, _ in columns for zone in _zones(values.type, has_int96=has_int96)]
            try:
                batches = [chunk.batch for chunk in chunks(folder, "parquet")]
                ours: Any = [list(row.values()) for batch in batches for row in _rows(batch)]
                if batches:
                    types = [zone for field in batches[0].schema for zone in _zones(field.type)]
                    ours, wanted = (types, ours), (zones, wanted)
                result.taken += 1
            except PermanentError as error:
                ours = str(error)
            result.cases += 1
            if not _same(ours, wanted):
                result.differences.append(Difference(f"{table.schema} {has_int96=}", repr(ours), repr(wanted)))
        return result


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = [as_type(column, _in_integers(pa.field("", column.type)).type) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names).to_pylist()  # type: ignore[no-any-return]


def _in_integers(field: pa.Field) -> pa.Field:
    """Return time stamps as integers; `_zones` looks at their zones."""
    kind = field.type
    if pa.types.is_timestamp(kind):
        assert kind.unit == "us", kind
        return field.with_type(pa.int64())
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([_in_integers(inner) for inner in kind]))
    if pa.types.is_map(kind):
        return field.with_type(pa.map_(kind.key_field, _in_integers(kind.item_field)))
    return field.with_type(pa.list_(_in_integers(kind.value_field))) if pa.types.is_list(kind) else field


def _zones(kind: pa.DataType, *, has_int96: bool = False) -> list[str | None]:
    """Return the zone of each time stamp in a type; those of INT96 are instants whatever was written."""
    if pa.types.is_timestamp(kind):
        return ["UTC" if has_int96 else kind.tz]
    inner = [kind.field(number).type for number in range(kind.num_fields)]
    return [zone for each in inner for zone in _zones(each, has_int96=has_int96)]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(type(left) is type(right) and left == right)


def _column(random: Random, rows: int) -> tuple[pa.Array, list[Any]]:
    """Return a random column, and its values as Spark reads them."""
    kind = _kind(random, 0)
    pairs = [_value(random, kind) for _ in range(rows)]
    return _array([pair[0] for pair in pairs], kind), [pair[1] for pair in pairs]


def _kind(random: Random, depth: int) -> pa.DataType:
    chance = random.random()
    if chance < 0.15 and depth < 3:
        return pa.list_(_kind(random, depth + 1))
    if chance < 0.3 and depth < 3:
        return pa.struct(
            [pa.field(name, _kind(random, depth + 1)) for name in random.sample("abc", random.randint(1, 3))]
        )
    if chance < 0.4 and depth < 3:
        return pa.map_(pa.string(), _kind(random, depth + 1))
    return random.choice(list(LEAVES))


def _array(stored: list[Any], kind: pa.DataType) -> pa.Array:
    """Build an array; pyarrow builds none of extension types within others from Python's values."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, kind.storage_type))
    mask = pa.array([value is None for value in stored], pa.bool_())
    if pa.types.is_struct(kind):
        children = [_array([value and value[field.name] for value in stored], field.type) for field in kind]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
    if not (pa.types.is_list(kind) or pa.types.is_map(kind)):
        return pa.array(stored, kind)
    ends = [0]
    for value in stored:
        ends.append(ends[-1] + len(value or ()))
    inner = [each for value in stored for each in value or ()]
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), _array(inner, kind.value_type), mask=mask)
    keys, items = pa.array([key for key, _ in inner], pa.string()), _array([item for _, item in inner], kind.item_type)
    return pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, items, mask=mask)


def _value(random: Random, kind: pa.DataType) -> tuple[Any, Any]:
    """Return a random value as it is stored, and as Spark reads it."""
    if random.random() < 0.2:
        return None, None
    if pa.types.is_struct(kind):
        pairs = {field.name: _value(random, field.type) for field in kind}
        return tuple({name: pair[at] for name, pair in pairs.items()} for at in (0, 1))  # type: ignore[return-value]
    if pa.types.is_list(kind):
        items = [_value(random, kind.value_type) for _ in range(random.choice([0, 1, 3]))]
        return [item[0] for item in items], [item[1] for item in items]
    if pa.types.is_map(kind):
        entries = {f"k{number}": _value(random, kind.item_type) for number in range(random.choice([0, 1, 3]))}
        return [(key, pair[0]) for key, pair in entries.items()], [(key, pair[1]) for key, pair in entries.items()]
    return LEAVES[kind](random)  # type: ignore[no-any-return]


def _itself(make: Make) -> Make:
    def both(random: Random) -> tuple[Any, Any]:
        value = make(random)
        return value, value

    return both


def _whole(low: int, high: int) -> Make:
    return _itself(lambda random: random.choice([low, high, 0, random.randint(low, high)]))


def _decimal(precision: int, scale: int) -> Make:
    return _itself(lambda random: Decimal(random.randint(1 - 10**precision, 10**precision - 1)) / 10**scale)


def _instant(per_second: int) -> Make:
    def make(random: Random) -> tuple[Any, Any]:
        value = random.randint(-(2**33), 2**33) * per_second + random.randrange(per_second)
        micros = value * 1_000_000 // per_second
        return EPOCH.replace(tzinfo=None) + timedelta(microseconds=micros), micros

    return make


def _nanos(random: Random) -> tuple[int, int]:
    nanos = random.randint(-(2**63) + 10**9, 2**63 - 1) if random.random() < 0.5 else random.randint(-2000, 2000)
    return nanos, nanos // 1000


def _time(random: Random) -> tuple[Any, Any]:
    value = time(random.randrange(24), random.randrange(60), random.randrange(60), random.randrange(10**6))
    return value, value.isoformat("microseconds")


def _uuid(random: Random) -> tuple[Any, Any]:
    value = uuid.UUID(bytes=random.randbytes(16))
    return value.bytes, str(value)


TEXT = _itself(lambda random: random.choice(["", "a", "é", "漢", "x" * 40, '{"a":1}']))
DOUBLE = _itself(lambda random: random.choice([0.0, -0.0, 1.5, -2.25, math.inf, math.nan]))
LEAVES: dict[pa.DataType, Make] = {
    pa.bool_(): _itself(lambda random: random.random() < 0.5),
    pa.int8(): _whole(-(2**7), 2**7 - 1),
    pa.int16(): _whole(-(2**15), 2**15 - 1),
    pa.int32(): _whole(-(2**31), 2**31 - 1),
    pa.int64(): _whole(-(2**63), 2**63 - 1),
    pa.uint8(): _whole(0, 2**8 - 1),
    pa.uint16(): _whole(0, 2**16 - 1),
    pa.uint32(): _whole(0, 2**32 - 1),
    pa.uint64(): lambda random: ((value := random.choice([0, 5, 2**64 - 1])), Decimal(value)),
    pa.float16(): DOUBLE,
    pa.float32(): DOUBLE,
    pa.float64(): DOUBLE,
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): _itself(lambda random: random.randbytes(random.choice([0, 1, 9]))),
    pa.binary(12): _itself(lambda random: random.randbytes(12)),
    pa.decimal128(9, 2): _decimal(9, 2),
    pa.decimal128(18, 0): _decimal(18, 0),
    pa.decimal256(20, 3): _decimal(20, 3),
    pa.date32(): _itself(lambda random: EPOCH.date() + timedelta(days=random.randint(-700_000, 2_900_000))),
    pa.timestamp("ms"): _instant(1000),
    pa.timestamp("us"): _instant(1_000_000),
    pa.timestamp("us", "UTC"): _instant(1_000_000),
    pa.timestamp("ns"): _nanos,
    pa.time64("us"): _time,
    pa.uuid(): _uuid,
    pa.json_(): TEXT,
    pa.null(): _itself(lambda _: None),
}
