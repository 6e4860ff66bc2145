"""Steps that take records apart give each record the same values, however the records are cut into chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.schema import concat, without_nulls
from gluepot.frames.transforms import DropNulls, SimplifyDdbJson, Unnest, UnnestDdbJson
from gluepot.frames.transforms.relationalize import TaskIds, relational_tables

Record = dict[str, Any]


def struct(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.fixed_dictionaries({}, optional=fields)


def array(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(of, max_size=2)


NUMBER, TEXT = st.none() | st.integers(0, 1), st.none() | st.sampled_from("ab")
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXT,
        "s": struct(x=NUMBER, l=array(NUMBER), t=struct(y=TEXT, e=array(struct(k=NUMBER)))),
        "l": array(struct(x=NUMBER, s=struct(y=array(TEXT)))),
        "deep": array(array(struct(q=NUMBER))),
        "empty": struct(i=struct(j=struct())),
    },
)
CHUNKS = st.lists(st.lists(RECORD, min_size=1, max_size=2), min_size=2, max_size=3)


def in_dynamodb(value: Any) -> Any:
    match value:
        case None:
            return {"NULL": True}
        case list():
            return {"L": [in_dynamodb(one) for one in value]}
        case dict():
            return {"M": {name: in_dynamodb(one) for name, one in value.items()}}
        case int():
            return {"N": str(value)}
    return {"S": value}


def item(record: Record) -> Record:
    return {"Item": {name: in_dynamodb(value) for name, value in record.items()}}


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: kept for name, one in value.items() if (kept := without_none(one)) is not None}
    return [without_none(one) for one in value] if isinstance(value, list) else value


def table(batches: Sequence[pa.RecordBatch]) -> list[Record]:
    return [without_none(row) for row in rows(Chunk(without_nulls(concat(batches))))]


STEPS: dict[str, tuple[Callable[[Chunk], Chunk], Callable[[Record], Record]]] = {
    "unnest": (Unnest(), dict),
    "unnest_ddb_json": (UnnestDdbJson(), item),
    "simplify_ddb_json": (SimplifyDdbJson(), item),
    "drop_nulls": (DropNulls(), dict),
}


@pytest.mark.parametrize("name", STEPS)
@given(CHUNKS)
def test_a_step_gives_the_same_rows_from_one_chunk_and_from_several(name, chunks):
    step, encoded = STEPS[name]
    several = [step(Chunk(batch_from_objects([encoded(one) for one in chunk]))).batch for chunk in chunks]
    whole = step(Chunk(batch_from_objects([encoded(one) for chunk in chunks for one in chunk]))).batch
    assert table(several) == table([whole])


@given(CHUNKS)
def test_relational_tables_are_the_same_from_one_chunk_and_from_several(chunks):
    def tables(cut: Sequence[Sequence[Record]]) -> dict[str, list[Record]]:
        ids, found = TaskIds(0), {}
        for chunk in cut:
            for name, batch in relational_tables(batch_from_objects(chunk), "root", ids).items():
                found.setdefault(name, []).append(batch)
        return {name: table(batches) for name, batches in found.items()}

    assert tables(chunks) == tables([[one for chunk in chunks for one in chunk]])
