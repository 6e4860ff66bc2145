import io
import itertools
import os
import re
from pathlib import Path

import pyarrow as pa
import pytest

import gluepot
from gluepot.frames.sizes import memory_bytes

WRAPPERS = {
    "array": pa.list_,
    "map": lambda inner: pa.map_(pa.string(), inner),
    "struct": lambda inner: pa.struct([("x", inner)]),
}
NESTINGS = [names for depth in (2, 3) for names in itertools.product(WRAPPERS, repeat=depth)]


def _type(names, leaf=None):
    kind = leaf or pa.int32()
    for name in reversed(names):
        kind = WRAPPERS[name](kind)
    return kind


def _without_offsets(kind):
    """Return an empty array as Spark sends it: no buffer has any bytes, not even the one offset of an empty list."""
    nothing = pa.py_buffer(b"")
    if pa.types.is_list(kind):
        return pa.Array.from_buffers(kind, 0, [None, nothing], children=[_without_offsets(kind.value_type)])
    if pa.types.is_map(kind):
        entries = _without_offsets(pa.struct([kind.key_field, kind.item_field]))
        return pa.Array.from_buffers(kind, 0, [None, nothing], children=[entries])
    if pa.types.is_struct(kind):
        return pa.Array.from_buffers(kind, 0, [None], children=[_without_offsets(field.type) for field in kind])
    return pa.array([], kind)


def _nulls(kind, rows):
    """Return nulls whose lists and maps have inner arrays without offsets."""
    none = pa.py_buffer(bytes(1))
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        inner = kind.value_type if pa.types.is_list(kind) else pa.struct([kind.key_field, kind.item_field])
        offsets = pa.py_buffer(bytes(4 * (rows + 1)))
        return pa.Array.from_buffers(kind, rows, [none, offsets], children=[_without_offsets(inner)])
    if pa.types.is_struct(kind):
        return pa.Array.from_buffers(kind, rows, [none], children=[_nulls(field.type, rows) for field in kind])
    return pa.nulls(rows, kind)


def _received(array):
    """Return the batch as a worker receives it, where buffers without bytes have no address."""
    sent = io.BytesIO()
    batch = pa.record_batch([array], ["v"])
    with pa.ipc.new_stream(sent, batch.schema) as stream:
        stream.write_batch(batch)
    return pa.ipc.open_stream(sent.getvalue()).read_next_batch()


def _value(names):
    """Return a value with elements at the first position of each level and empty or null ones next to it."""
    if not names:
        return 7
    inner = _value(names[1:])
    return {"array": [inner, None, inner], "map": [("a", inner), ("b", None)], "struct": {"x": inner}}[names[0]]


@pytest.mark.parametrize("names", NESTINGS, ids="-".join)
def test_a_batch_without_inner_elements_is_measured(names):
    batch = _received(_nulls(_type(names), 2))

    assert 0 < memory_bytes(batch) < 100
    assert 0 <= memory_bytes(batch.slice(1)) <= memory_bytes(batch)
    assert memory_bytes(batch.slice(0, 0)) == 0


@pytest.mark.parametrize("names", NESTINGS, ids="-".join)
@pytest.mark.parametrize("leaf", [pa.int32(), pa.string()], ids=str)
def test_the_size_is_that_of_pyarrow_where_pyarrow_has_one(names, leaf):
    value = _value(names)
    values = [value, None, value, {"array": [], "map": [], "struct": None}[names[0]]] * 8
    array = pa.array(values, _type(names))
    array = array if leaf == pa.int32() else array.cast(_type(names, leaf))

    # pyarrow leaves out the validity of a struct.
    assert memory_bytes(array) == pytest.approx(array.nbytes, rel=0.05)
    assert memory_bytes(pa.chunked_array([array, array])) == 2 * memory_bytes(array)
    assert memory_bytes(array.slice(8, 16)) == pytest.approx(array.slice(8, 16).nbytes, rel=0.05)


def test_flat_columns_are_measured_by_their_slices():
    table = pa.table({"n": pa.array(range(100), pa.int64()), "t": ["ab"] * 100})

    assert memory_bytes(table) == table.nbytes
    assert memory_bytes(table.slice(10, 10)) == table.slice(10, 10).nbytes


def test_no_module_measures_arrow_data_in_another_way():
    rooms = [Path(gluepot.__file__).parent, *(Path(gluepot.__file__).parents[1] / name for name in ("awsglue",))]
    files = [
        Path(folder, name)
        for room in rooms
        for folder, _, names in os.walk(room, followlinks=True)
        for name in names
        if name.endswith(".py")
    ]
    unsafe = re.compile(r"\.(?:nbytes|get_total_buffer_size)\b")
    users = {file.name for file in files if unsafe.search(file.read_text())}

    assert users == {"sizes.py"}
