from __future__ import annotations

import os

import pytest

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.tables.purge import PurgeOptions, purge_path, purge_table

NOW = 1_000_000_000.0
HOUR = 3_600


@pytest.fixture
def lake(tmp_path):
    def put(name, hours_old):
        file = tmp_path / "lake" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
        os.utime(file, (NOW - hours_old * HOUR,) * 2)

    put.root = tmp_path / "lake"
    put.names = lambda: sorted(str(one.relative_to(put.root)) for one in put.root.rglob("*") if one.is_file())
    return put


def options(**given):
    return PurgeOptions.from_glue(given)


def test_files_older_than_a_week_go(lake):
    lake("a", 200)
    lake("deep/b", 200)
    lake("c", 100)
    done = purge_path(str(lake.root), options(), FakeClock(NOW), "a")
    assert (lake.names(), len(done.deleted), done.kept) == (["c"], 2, 1)


def test_with_a_period_of_nothing_all_files_go_but_our_own(lake):
    lake("a", 0)
    lake("_gluepot/commits/1.json", 500)
    purge_path(str(lake.root), options(retentionPeriod="0"), FakeClock(NOW), "a")
    assert lake.names() == ["_gluepot/commits/1.json"]


def test_what_was_deleted_is_listed_in_a_manifest(lake, tmp_path):
    lake("a", 200)
    purge_path(str(lake.root), options(manifestFilePath=str(tmp_path / "list")), FakeClock(NOW), "a")
    assert (tmp_path / "list" / "Success.csv").read_text() == f"{lake.root}/a\n"
    assert (tmp_path / "list" / "Failed.csv").read_text() == ""


def test_an_emptied_partition_leaves_the_catalog(lake, tmp_path):
    catalog = open_catalog(f"sqlite:///{tmp_path}/catalog.db", FakeClock(NOW))
    catalog.add_database(Database("web"))
    table = Table("web", "clicks", {"PartitionKeys": [{"Name": "day", "Type": "string"}]})
    catalog.add_table(table)
    for day, hours_old in (("1", 200), ("2", 200), ("3", 1), ("__HIVE_DEFAULT_PARTITION__", 200)):
        lake(f"day={day}/a", hours_old)
        location = {"StorageDescriptor": {"Location": f"{lake.root}/day={day}"}}
        catalog.add_partitions(table, [Partition((day,), location)])
    purge_table(catalog, table, options(partitionPredicate="day <> '2'"), FakeClock(NOW), "a")
    assert [one.values for one in catalog.partitions(table)] == [("2",), ("3",), ("__HIVE_DEFAULT_PARTITION__",)]
    assert lake.names() == ["day=2/a", "day=3/a", "day=__HIVE_DEFAULT_PARTITION__/a"]
    catalog.close()


def test_a_mistyped_option_is_refused_before_anything_goes():
    with pytest.raises(ConfigError, match=r"no option 'retentionPeriode'.* Did you mean 'retentionPeriod'"):
        options(retentionPeriode=0)
