from __future__ import annotations

from itertools import pairwise

import pytest

from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.retention import Marked, expire_before_ms
from gluepot.connectors.lake.upkeep import Upkeep, keep_up
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError
from gluepot.datalake.optimize import job_arguments


def batch(at_ms, query, number, ctx="sink"):
    return Marked(at_ms, LakeCommit(CommitKey(query, number, ctx), "input"))


@pytest.mark.parametrize(
    ("ancestors", "bound_ms"),
    [
        pytest.param([], 50, id="no snapshot"),
        pytest.param([Marked(90), Marked(10)], 50, id="none of ours"),
        pytest.param([batch(90, "q", 2), batch(10, "q", 1)], 50, id="the last batch is young"),
        pytest.param([Marked(90), Marked(40), batch(30, "q", 2), batch(10, "q", 1)], 30, id="the last batch is old"),
        pytest.param([batch(90, "q", 2), batch(20, "p", 7), batch(10, "q", 1)], 20, id="another query ended long ago"),
        pytest.param([batch(90, "q", 2), batch(20, "q", 1, "other"), Marked(10)], 20, id="another write of the query"),
        pytest.param([Marked(90), Marked(25), batch(30, "q", 2)], 25, id="a clock that was behind"),
    ],
)
def test_what_leads_to_the_last_batch_of_each_write_does_not_expire(ancestors, bound_ms):
    assert expire_before_ms(ancestors, 50) == bound_ms


class ForAnHour(IcebergTable):
    """A table whose main branch keeps its snapshots for an hour."""

    def own_retention_ms(self, spark):
        return 3_600_000


def test_a_table_with_a_retention_of_its_own_is_left_alone():
    with pytest.raises(ConfigError, match=r"main of c\.d\.t keeps snapshots for 3600000 ms by a setting of its own"):
        list(keep_up(None, ForAnHour("c.d.t"), Upkeep(keep_secs=0, orphan_secs=0, now_epoch=0)))


def test_a_catalog_that_is_not_configured_is_that_of_glue():
    given = job_arguments("glue_catalog.shop.orders", [], 7, 3, dry_run=True)

    packed = given[given.index("--conf") + 1]
    assert packed.split(" --conf ") == [
        "spark.sql.catalog.glue_catalog=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.glue_catalog.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog",
    ]
    assert given[given.index("--datalake-formats") + 1] == "iceberg"
    assert given[given.index("--dry_run") + 1] == "true"


def test_a_catalog_that_is_configured_stays():
    conf = ["spark.sql.catalog.c=org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.c.type=rest"]

    given = job_arguments("c.shop.orders", conf, 7, 3, dry_run=False)

    assert given[given.index("--conf") + 1] == " --conf ".join(conf)


def test_a_folder_is_a_table_of_delta():
    given = job_arguments("s3://lake/clicks", [], 0.5, 3, dry_run=False)

    (conf,) = [value for name, value in pairwise(given) if name == "--conf"]
    assert conf.startswith("spark.sql.sources.parallelPartitionDiscovery.parallelism=")
    assert given[given.index("--datalake-formats") + 1] == "delta"
    assert given[given.index("--keep_days") + 1] == "0.5"


def test_a_setting_of_ones_own_wins():
    given = job_arguments(
        "/lake/clicks", ["spark.sql.sources.parallelPartitionDiscovery.parallelism=7"], 7, 3, dry_run=False
    )

    assert given[given.index("--conf") + 1].endswith("parallelism=7")


@pytest.mark.parametrize("table", ["orders", "shop.orders", "c.shop.orders'; DROP", ""])
def test_what_names_no_table_is_a_sentence(table):
    with pytest.raises(ConfigError, match=r"is not a table; give catalog\.database\.table"):
        job_arguments(table, [], 7, 3, dry_run=False)


@pytest.mark.parametrize(("keep_days", "orphan_days", "option"), [(-1, 3, "keep"), (7, 0.5, "orphan")])
def test_a_time_that_would_cost_a_table_its_files_is_a_sentence(keep_days, orphan_days, option):
    with pytest.raises(ConfigError, match=f"^--{option}-days is"):
        job_arguments("/lake/clicks", [], keep_days, orphan_days, dry_run=False)
