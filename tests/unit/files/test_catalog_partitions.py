"""Where the partitions of a table in the Data Catalog are read, with and without a location of their own."""

import pytest

from gluepot.catalog.values import Partition, Table
from gluepot.connectors.files.partition_folders import partition_path
from gluepot.connectors.files.source.hive import partition_values
from gluepot.connectors.files.source.table_settings import partition_roots

KEYS = ("city", "day")
TABLE = Table(
    "shop",
    "orders",
    {
        "StorageDescriptor": {"Columns": [], "Location": "/lake/orders/"},
        "PartitionKeys": [{"Name": name, "Type": "string"} for name in KEYS],
    },
)


@pytest.mark.parametrize("city", ["Rome", "New York", "Köln", "a+b&c", "50% off: a/b", "x=y"])
def test_a_partition_without_a_location_is_read_where_a_write_puts_it(city):
    (root,) = partition_roots(TABLE, [Partition((city, "2026-11-01"), {})])
    assert root.url == f"/lake/orders/{partition_path(KEYS, (city, '2026-11-01'))}"
    assert dict(partition_values(root.under)) == {"city": city, "day": "2026-11-01"}


def test_a_partition_with_a_location_is_read_there():
    elsewhere = {"StorageDescriptor": {"Location": "s3://other/place"}}
    (root,) = partition_roots(TABLE, [Partition(("New York", "2026-11-01"), elsewhere)])
    assert root.url == "s3://other/place"
    assert dict(partition_values(root.under)) == {"city": "New York", "day": "2026-11-01"}
