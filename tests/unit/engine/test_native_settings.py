"""Which settings of Spark SQL leave a query to Spark."""

from __future__ import annotations

import pytest

from gluepot.core.glue_version import PROFILES
from gluepot.engine.native.settings import to_compare, uncovered


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.ansi.enabled",
        "spark.sql.session.timeZone",
        "spark.sql.adaptive.coalescePartitions.enabled",
        "spark.sql.catalog.glue_catalog.warehouse",
        "spark.sql.shuffle.partitions",
        "spark.executor.memory",
    ],
)
def test_a_setting_that_is_covered_or_harmless_may_have_any_value(name):
    assert uncovered({name: "anything"}, {}) is None


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.decimalOperations.allowPrecisionLoss",
        "spark.sql.legacy.doLooseUpcast",
        "spark.sql.parquet.binaryAsString",
        "spark.sql.ansi.doubleQuotedIdentifiers",
        "spark.sql.newInASparkToCome",
    ],
)
def test_any_other_setting_must_have_the_default_of_spark(name):
    assert to_compare([name, "spark.sql.ansi.enabled"]) == [name]
    assert uncovered({name: "true"}, {name: "true"}) is None
    assert uncovered({name: "true"}, {name: "false"}) == name
    assert uncovered({name: "true"}, {}) == name


@pytest.mark.parametrize("version", PROFILES)
def test_settings_of_a_glue_version_are_covered(version):
    assert uncovered(PROFILES[version].spark_conf, {}) is None
