"""Numbers keep their digits from files to DataFrames and to files, whatever other records hold."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

ID, OTHER = 1580661436132757507, 1580661436132757509


def _read(glue_context, folder, format_name):
    return glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(folder)]}, format=format_name)


def test_json_files_that_disagree_keep_all_digits(glue_context, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    values = [[ID, OTHER], [0.5, 7], [10**20, None]]
    for name, ids in enumerate(values):
        lines = (json.dumps({"at": f"{name}{at}", "id": one, "mixed": 5 + at / 2}) for at, one in enumerate(ids))
        (folder / f"{name}.json").write_text("\n".join(lines))
    frame = _read(glue_context, folder, "json")

    rows = {row["at"]: row for row in frame.toDF().collect()}
    assert {at: row["id"].asDict() for at, row in rows.items() if row["id"]} == {
        "00": {"long": ID, "double": None, "decimal": None},
        "01": {"long": OTHER, "double": None, "decimal": None},
        "10": {"long": None, "double": 0.5, "decimal": None},
        "11": {"long": None, "double": 7.0, "decimal": None},  # was read together with a fraction
        "20": {"long": None, "double": None, "decimal": Decimal(10**20)},
    }
    assert sorted({row["mixed"] for row in rows.values()}) == [5.0, 5.5]
    longs = frame.resolveChoice([("id", "cast:long")]).toDF().collect()
    assert {row["at"]: row["id"] for row in longs} == {"00": ID, "01": OTHER, "10": 0, "11": 7, "20": None, "21": None}


def test_parquet_files_that_disagree_are_written_with_all_digits(glue_context, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, values in {"a": pa.array([ID]), "b": pa.array([0.5]), "c": pa.array([OTHER])}.items():
        pq.write_table(
            pa.table({"id": values, "small": values.cast(pa.int32(), safe=False)}), folder / f"{name}.parquet"
        )
    frame = _read(glue_context, folder, "parquet")
    assert frame.count() == 3
    for choice, names in {"make_cols": ["id_long", "id_double"], "cast:string": ["id"]}.items():
        out = tmp_path / choice.replace(":", "_")
        glue_context.write_dynamic_frame.from_options(
            frame.resolveChoice(choice=choice), "s3", {"path": str(out)}, "glueparquet"
        )
        rows = pa.concat_tables([pq.read_table(path) for path in out.glob("*.parquet")], promote_options="default")
        found = {str(row[name]) for row in rows.to_pylist() for name in names if row.get(name) is not None}
        assert found == {str(ID), str(OTHER), "0.5"}
