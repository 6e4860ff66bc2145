from __future__ import annotations

import gzip
import json

import pytest

from gluepot.connectors.files.formats import read_format
from gluepot.core.errors import ConfigError, PermanentError
from tests.unit.files.reading import chunks, records

BOOKS = """<?xml version="1.0"?>
<shop xmlns:p="urn:p">
  <note>not a book</note>
  <book id="1"><title>One</title><p:price currency="EUR">10.50</p:price></book>
  <book id="2"><title> Two </title><author>A</author><author>B</author><isbn/></book>
</shop>
"""


def read(tmp_path, text=BOOKS, name="a.xml", **options):
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return records(tmp_path, "xml", rowTag="book", **options)


def test_elements_of_the_row_tag_are_records(tmp_path):
    assert read(tmp_path) == [
        {"_id": "1", "title": "One", "price": {"_currency": "EUR", "_VALUE": "10.50"}},
        {"_id": "2", "title": " Two ", "author": ["A", "B"], "isbn": ""},
    ]


def test_options_shape_the_fields(tmp_path):
    options = {"attributePrefix": "@", "valueTag": "text", "ignoreSurroundingSpaces": True}
    first, second = read(tmp_path, treatEmptyValuesAsNulls="true", **options)
    assert first == {"@id": "1", "title": "One", "price": {"@currency": "EUR", "text": "10.50"}}
    assert second == {"@id": "2", "title": "Two", "author": ["A", "B"]}


def test_attributes_can_be_left_out(tmp_path):
    first, _ = read(tmp_path, excludeAttribute=True)
    assert first == {"title": "One", "price": "10.50"}


def test_a_schema_gives_types(tmp_path):
    field = {"name": "_id", "type": "long", "nullable": True, "metadata": {}}
    found = read(tmp_path, withSchema=json.dumps({"type": "struct", "fields": [field]}))
    assert [row["_id"] for row in found] == [1, 2]


def test_a_row_tag_within_itself_is_part_of_the_outer_record(tmp_path):
    text = "<a><book><t>x</t><book><t>y</t></book></book></a>"
    assert read(tmp_path, text) == [{"t": "x", "book": {"t": "y"}}]


def test_a_compressed_file_in_another_encoding_is_read(tmp_path):
    (tmp_path / "a.xml").write_bytes(
        '<?xml version="1.0" encoding="ISO-8859-1"?><a><book>ä</book></a>'.encode("latin-1")
    )
    assert records(tmp_path, "xml", rowTag="book") == [{"_VALUE": "ä"}]


def test_many_records_come_in_bounded_chunks(tmp_path):
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(b"<a>" + b"<book><n>1</n></book>" * 12_000 + b"</a>"))
    assert [chunk.batch.num_rows for chunk in chunks(tmp_path, "xml", rowTag="book")] == [5_000, 5_000, 2_000]


BOMB = (
    '<!DOCTYPE a [<!ENTITY a "' + "x" * 1000 + '">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 50}">' for old, new in zip("abcd", "bcde", strict=True))
    + "]><a><book>&e;</book></a>"
)  # fmt: skip


@pytest.mark.parametrize("text", ["<a><book></a>", "no xml", "<a><book>1</book>", BOMB])
def test_what_is_no_xml_or_grows_without_end_is_an_error_that_names_the_file(tmp_path, text):
    with pytest.raises(PermanentError, match=r"a\.xml is not valid XML"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("options", "said"), [({}, "needs a rowTag"), ({"rowTag": "a", "encoding": "x"}, "which is not known")]
)
def test_options_that_are_missing_or_wrong_are_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        read_format("xml", options)


def test_no_text_or_attribute_is_lost(tmp_path):
    text = '<r xmlns:p="u" xmlns:q="v"><a p:x="1" q:x="2" VALUE="3">one<b/> two </a><c>four<!-- no -->teen</c></r>'
    (tmp_path / "a.xml").write_text(text)
    a = {"_x": ["1", "2"], "_VALUE": ["3", "one", " two "], "b": ""}
    assert records(tmp_path, "xml", rowTag="r") == [{"a": a, "c": "fourteen"}]


def test_an_encoding_that_there_is_not_is_told(tmp_path):
    (tmp_path / "a.xml").write_bytes(b'<?xml version="1.0" encoding="utf-99"?><r/>')
    with pytest.raises(PermanentError, match="is not valid XML"):
        records(tmp_path, "xml", rowTag="r")
