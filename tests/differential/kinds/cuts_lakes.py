"""The same records in random cuts, appended to tables of Iceberg and Delta that know their types.

Each write reads files of JSON and appends them through a DynamicFrame. Whatever the cut, a record has its values: also
`[]`, `[null]` and structs without values, which have no type of their own.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from pyspark.errors import AnalysisException

from awsglue.context import GlueContext
from tests.differential.kind import Difference, Round, World
from tests.differential.kinds.cuts import SHAPES, Write, random_cut, random_value
from tests.differential.merges.lake import FAST
from tests.native_tables import with_settings

_TABLES = 2
_NAMES = ("tags", "codes", "deep", "rows", "s", "wrap")
_FORMS = ("iceberg", "delta")
_TYPES = {"integer": "bigint", "text": "string", "boolean": "boolean"}
_numbers = itertools.count()


class Kind:
    """See the module."""

    name = "cuts_lakes"
    unit = "tables"

    def round(self, random: Random, world: World) -> Round:
        """Write and read some tables of each format."""
        with with_settings(world.spark(), FAST):
            return self._round(random, world)

    def _round(self, random: Random, world: World) -> Round:
        result, context = Round(), GlueContext(world.spark().sparkContext)
        for form in _FORMS * _TABLES:
            table = _Table(context, form, world.folder)
            names = random.sample(_NAMES, random.randint(1, 3))
            records = [
                {"id": number} | {name: random_value(random, SHAPES[name]) for name in names if random.random() < 0.8}
                for number in range(random.choice([2, 4, 8]))
            ]
            writes = random_cut(random, records)
            table.create(names)
            result.cases += 1
            if not all(map(table.append, writes)):
                continue
            result.taken += 1
            wanted = {
                record["id"]: _whole(record, {"id": "integer"} | {name: SHAPES[name] for name in names})
                for record in records
            }
            if (found := table.rows()) != wanted:
                result.differences.append(Difference(f"{form} {json.dumps(writes)}", str(found), str(wanted)))
        return result


class _Table:
    def __init__(self, context: GlueContext, form: str, folder: Path) -> None:
        self._context, self._spark, self._form = context, context.spark_session, form
        self._folder = folder / f"lake-{next(_numbers)}"
        self._writes = 0
        self._name = str(self._folder / "table")
        if form == "iceberg":
            catalog = f"cuts{next(_numbers)}"
            settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": str(self._folder)}
            for ending, value in settings.items():
                self._spark.conf.set(f"spark.sql.catalog.{catalog}{ending}", value)
            self._name = f"{catalog}.db.t"

    def create(self, names: Sequence[str]) -> None:
        columns = ", ".join(["id bigint", *(f"{name} {_sql_type(SHAPES[name])}" for name in names)])
        name = self._name if self._form == "iceberg" else f"delta.`{self._name}`"
        self._spark.sql(f"CREATE TABLE {name} ({columns}) USING {self._form}")

    def append(self, write: Write) -> bool:
        """Append one write, whose tasks read a file each; return False if Iceberg misses a field within a column."""
        folder = self._folder / f"in-{self._writes}"
        folder.mkdir(parents=True)
        for number, records in enumerate(write):
            (folder / f"{number}.json").write_text("\n".join(map(json.dumps, records)))
        frame = self._context.create_dynamic_frame.from_options("s3", {"paths": [str(folder)]}, "json")
        options = {"path": self._name, "mergeSchema": "true"} if self._form == "delta" else {"path": self._name}
        self._writes += 1
        try:
            self._context.write_dynamic_frame.from_options(frame, self._form, options)
        except AnalysisException as error:
            if error.getCondition() != "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA":
                raise
            return False
        return True

    def rows(self) -> dict[int, dict[str, Any]]:
        found: list[dict[str, Any]] = self._spark.read.format(self._form).load(self._name).toArrow().to_pylist()
        return {row["id"]: row for row in found}


def _sql_type(shape: Any) -> str:
    match shape:
        case [element]:
            return f"array<{_sql_type(element)}>"
        case {}:
            return "struct<" + ", ".join(f"{name}: {_sql_type(one)}" for name, one in shape.items()) + ">"
    return _TYPES[shape]


def _whole(value: Any, shape: Any) -> Any:
    """Return a value with all fields of its structs."""
    match value:
        case list():
            return [_whole(one, shape[0]) for one in value]
        case dict():
            fields: Mapping[str, Any] = shape
            return {name: _whole(value.get(name), one) for name, one in fields.items()}
    return value
