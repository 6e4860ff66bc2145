"""Several changes of the catalog in one transaction."""

from contextlib import suppress

from sqlalchemy import event

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.clock import FakeClock


def a_catalog(tmp_path):
    return open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}", FakeClock(1000.0))


def test_changes_are_made_together_or_not_at_all(tmp_path):
    catalog = a_catalog(tmp_path)
    table = Table("web", "clicks", {"PartitionKeys": [{"Name": "day", "Type": "string"}]})

    def change(together, ends):
        together.add_database(Database("web"))
        together.add_table(table)
        together.noting("BatchCreatePartition").add_partitions(table, [Partition(("1",), {})])
        assert together.find_table("web", "clicks") is not None
        if ends:
            raise KeyError

    with suppress(KeyError), catalog.together() as together:
        change(together, ends=True)
    assert catalog.databases() == []
    assert catalog.noted_changes(10) == []

    with catalog.together() as together:
        change(together, ends=False)
    assert [one.name for one in catalog.tables("web")] == ["clicks"]
    assert [one.values for one in catalog.partitions(table)] == [("1",)]
    assert [one.operation for one in catalog.noted_changes(10)] == ["BatchCreatePartition"]


def test_locations_of_partitions_are_read_from_their_index(tmp_path):
    catalog = a_catalog(tmp_path)
    asked = []
    with catalog._engine.connect() as connection:
        event.listen(catalog._engine, "before_cursor_execute", lambda *call: asked.append(call[2:4]))
        catalog.partition_locations(Table("web", "clicks", {}))
        statement, parameters = next(one for one in asked if "json_extract" in one[0])
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert "USING INDEX catalog_partition_locations" in plan[0][-1]
