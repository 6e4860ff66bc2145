import json

import pyarrow as pa

from gluepot.bookmarks.last_schema import last_schema, with_schema
from gluepot.bookmarks.ledger import Change

SCHEMA = pa.schema([pa.field("größe", pa.list_(pa.float64()), metadata={"a": "b"})])
BODY = json.dumps({"kind": "files", "folders": {"a}": [["x"]]}})


def test_the_newest_columns_count():
    other = with_schema(Change(BODY), pa.schema([("a", pa.int64())]))
    bodies = [BODY, other.body, with_schema(Change(BODY), SCHEMA).body, BODY]

    assert last_schema(bodies).equals(SCHEMA, check_metadata=True)
    assert last_schema([BODY]) is None
    assert last_schema([]) is None


def test_very_many_columns_are_left_out():
    change = Change(BODY)
    assert with_schema(change, pa.schema([(f"column_{n}", pa.int64()) for n in range(5000)])) is change


def test_the_rest_of_the_body_stays():
    changed = with_schema(Change(BODY, extends=False), SCHEMA)

    assert json.loads(changed.body).items() >= json.loads(BODY).items()
    assert not changed.extends
