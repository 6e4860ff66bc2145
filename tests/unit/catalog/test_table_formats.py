from __future__ import annotations

import pytest

from gluepot.catalog.formats import HIVE_FORMATS, new_storage, table_format
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError


def table(parameters=None, serde="", serde_parameters=None, columns=("a", "b")):
    storage = {
        "Columns": [{"Name": name, "Type": "string"} for name in columns],
        "SerdeInfo": {"SerializationLibrary": serde, "Parameters": serde_parameters or {}},
    }
    return Table("web", "clicks", {"Parameters": parameters or {}, "StorageDescriptor": storage})


@pytest.mark.parametrize("name", HIVE_FORMATS)
def test_a_new_table_is_read_in_the_format_it_is_written_in(name):
    storage = new_storage(name, "s3://lake/t")
    assert table_format(Table("d", "t", {"StorageDescriptor": storage.body})).name == name


@pytest.mark.parametrize(
    ("serde", "name"),
    [
        ("org.openx.data.jsonserde.JsonSerDe", "json"),
        ("org.apache.hive.hcatalog.data.JsonSerDe", "json"),
        ("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "orc"),
        ("org.apache.hadoop.hive.serde2.avro.AvroSerDe", "avro"),
    ],
)
def test_without_a_classification_the_serde_tells(serde, name):
    assert table_format(table(serde=serde)).name == name


def test_a_classification_goes_before_the_serde():
    assert table_format(table({"classification": "Parquet"}, "a.b.OrcSerde")).name == "parquet"


def test_csv_tells_separator_quotes_header_and_columns():
    of_serde = {"separatorChar": "|", "quoteChar": "'", "escapeChar": "\\"}
    made = table_format(table({"classification": "csv", "skip.header.line.count": "1"}, "o.a.OpenCSVSerde", of_serde))
    assert made.options == {
        "separator": "|",
        "columnNames": ["a", "b"],
        "quoteChar": "'",
        "escaper": "\\",
        "skipFirst": True,
    }


def test_several_header_lines_cannot_be_read():
    with pytest.raises(ConfigError, match=r"skip.header.line.count '2'; 0 and 1 can be read"):
        table_format(table({"classification": "csv", "skip.header.line.count": "2"}))


def test_a_table_that_does_not_say_its_format_is_refused():
    with pytest.raises(ConfigError, match=r"neither a classification nor a SerDe we know \(my.SerDe\)"):
        table_format(table(serde="my.SerDe"))
