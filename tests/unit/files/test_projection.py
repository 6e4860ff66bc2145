from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from gluepot.connectors.contracts import ColumnarSource
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.core.errors import ConfigError, PermanentError
from tests.unit.files.reading import chunks, errors, records

TABLE = pa.table({"Id": [1], "page": ["x"], "wide": [b"y"]})
WRITERS = {"parquet": parquet.write_table, "orc": orc.write_table}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(("wanted", "given"), [({"id", "no"}, ["Id"]), ({"no"}, ["Id", "page", "wide"])])
def test_columns_that_nobody_asks_for_are_not_read(tmp_path, form, wanted, given):
    WRITERS[form](TABLE, tmp_path / "a")
    settings = FileReadSettings.from_glue({"paths": [str(tmp_path)]}, form, {})
    assert isinstance(settings.source, ColumnarSource)
    group = FileGroup(tuple(list_files(settings.listing, ListingStats())))
    (chunk,) = settings.source.only(frozenset(wanted)).read(group)
    assert (chunk.batch.schema.names, chunk.batch.num_rows) == (given, 1)


def test_two_columns_of_one_name_are_refused(tmp_path):
    parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["id", "id"]), tmp_path / "a")
    with pytest.raises(PermanentError, match=r"The Parquet file .* it has two columns 'id'; "):
        records(tmp_path, "parquet")


def schema(**fields):
    described = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields.items()]
    return json.dumps({"type": "struct", "fields": described})


def test_json_is_read_into_the_columns_of_a_given_schema(tmp_path):
    (tmp_path / "a").write_text('{"id": 1, "price": "2.50", "more": true}\nno json\n')
    given = schema(id="string", price="decimal(5,2)")
    (row,) = records(tmp_path, "json", withSchema=given)
    assert (row["id"], str(row["price"]), list(row)) == ("1", "2.50", ["id", "price"])
    assert [one.raw for one in errors(tmp_path, "json", withSchema=given)] == [b"no json"]


def test_a_schema_that_is_none_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"withSchema is '\{\}', no schema"):
        records(tmp_path, "json", withSchema="{}")


def test_values_that_a_given_schema_makes_null_are_counted(tmp_path):
    (tmp_path / "a").write_text('{"id": "x"}\n{"id": 1.5}\n{"id": 3000000000}\n{"id": 4}\n')
    (tmp_path / "b").write_text('{"id": "y"}\n')
    found = chunks(tmp_path, "json", {"attachFilename": "from"}, withSchema=schema(id="integer"))
    assert [dict(chunk.misfits) for chunk in found] == [{"id": 3}, {"id": 1}]
