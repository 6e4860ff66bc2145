from __future__ import annotations

import io
import pickle
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.connectors.files.formats.parquet.dictionaries import expected_distinct, repeated_columns
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat


@pytest.mark.parametrize(
    ("distinct", "sampled", "values", "expected"), [(7, 10, 10, 7), (10, 10, 500, 500), (0, 0, 0, 0)]
)
def test_what_was_seen_whole_is_counted_and_what_never_repeats_does_not_begin_to(distinct, sampled, values, expected):
    assert expected_distinct(distinct, sampled, values) == expected


@pytest.mark.parametrize("different", [2, 300, 5_000, 40_000, 400_000])
def test_distinct_values_are_foreseen_within_a_quarter(different):
    chance, values = Random(different), 100_000
    drawn = [chance.randrange(different) for _ in range(values)]
    sampled = chance.sample(drawn, 4096)
    assert expected_distinct(len(set(sampled)), 4096, values) == pytest.approx(len(set(drawn)), rel=0.25, abs=2_100)


def test_columns_whose_values_come_back_have_dictionaries_at_any_depth():
    chance = Random(1)
    rows = [
        {
            "id": number,
            "country": chance.choice("abc"),
            "device": {"os": chance.choice("xy"), "serial": f"{number:x}", "seen": chance.random() < 0.5},
            "tags": [chance.choice("pq") for _ in range(chance.randrange(3))],
            "codes": [chance.getrandbits(60) for _ in range(chance.randrange(3))],
            "labels": [(chance.choice("kl"), str(chance.getrandbits(60)))],
            "seldom": "c" if number % 100 == 0 else None,
            "strange": chance.getrandbits(62) if number % 7 == 0 else None,
        }
        for number in range(10_000)
    ]
    labels = pa.array([row["labels"] for row in rows], pa.map_(pa.string(), pa.string()))
    batch = pa.RecordBatch.from_pylist([{k: v for k, v in row.items() if k != "labels"} for row in rows])
    batch = batch.append_column("labels", labels)
    paths = ["country", "device.os", "device.seen", "tags.list.element", "seldom", "labels.key_value.key"]
    assert repeated_columns(batch) == paths
    assert _with_dictionary(batch) == set(paths) - {"device.seen"}  # Parquet has none for booleans


def test_values_are_looked_at_all_over_whatever_their_order():
    assert repeated_columns(pa.record_batch({"n": list(range(3_000)) * 10})) == ["n"]
    assert repeated_columns(pa.record_batch({"n": sorted(list(range(3_000)) * 10)})) == ["n"]
    assert not repeated_columns(pa.record_batch({"n": list(range(30_000))}))


@pytest.mark.parametrize("rows", [0, 1, 31])
def test_a_few_rows_get_no_dictionary(rows):
    assert not repeated_columns(pa.record_batch({"b": pa.array(["x"] * rows, pa.string())}))


@pytest.mark.parametrize("rows", [32, 300])
def test_rows_that_are_less_than_a_sample_are_all_looked_at(rows):
    assert repeated_columns(pa.record_batch({"a": list(range(rows)), "b": ["x"] * rows})) == ["b"]


def test_a_column_of_nulls_and_one_of_a_type_that_cannot_be_counted_are_left_to_the_writer():
    kind = pa.list_(pa.int8(), 2)
    batch = pa.record_batch({"a": pa.nulls(40, pa.string()), "b": pa.array([[1, 2]] * 40, kind)})
    assert repeated_columns(batch) == ["a", "b"]


def test_what_the_first_file_of_some_size_needs_goes_for_those_after_it():
    parquet = ParquetOutputFormat()
    same, different = (pa.record_batch({"a": values}) for values in ([7] * 300, list(range(300))))
    few = pa.record_batch({"a": list(range(10))})
    assert not _with_dictionary(few, parquet)
    assert _with_dictionary(same, parquet) == {"a"}
    assert _with_dictionary(different, parquet) == {"a"}
    assert not _with_dictionary(different, pickle.loads(pickle.dumps(ParquetOutputFormat())))
    assert parquet == ParquetOutputFormat()


def _with_dictionary(batch: pa.RecordBatch, parquet: ParquetOutputFormat | None = None) -> set[str]:
    output = io.BytesIO()
    file = (parquet or ParquetOutputFormat()).open(output, batch.schema)
    file.write(batch)
    file.close()
    group = pq.ParquetFile(output).metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    return {column.path_in_schema for column in columns if column.has_dictionary_page}
