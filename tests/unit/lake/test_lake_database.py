from __future__ import annotations

import pytest

from gluepot.connectors.lake import AWS, localized
from gluepot.connectors.lake.database import JdbcDatabase, jdbc_database
from gluepot.core.errors import ConfigError

GLUE = {
    "spark.sql.catalog.glue_catalog": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.glue_catalog.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
}


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("sqlite:////state/catalog.db", JdbcDatabase("jdbc:sqlite:/state/catalog.db?busy_timeout=30000")),
        ("sqlite:///here.db", JdbcDatabase("jdbc:sqlite:here.db?busy_timeout=30000")),
        ("postgresql://db/lake", JdbcDatabase("jdbc:postgresql://db/lake")),
        (
            "postgresql+psycopg://a%40b:p%2Fw@db:5433/lake?sslmode=require",
            JdbcDatabase("jdbc:postgresql://db:5433/lake?sslmode=require", "a@b", "p/w"),
        ),
    ],
)
def test_a_url_of_ours_becomes_one_of_java(url, database):
    assert jdbc_database(url) == database


@pytest.mark.parametrize("url", ["sqlite://", "mysql://root:hidden@db/lake", "postgresql:///lake?host=/run"])
def test_a_database_that_java_cannot_reach_is_named_without_its_password(url):
    with pytest.raises(ConfigError, match="let GLUEPOT_CATALOG be") as caught:
        jdbc_database(url)
    assert "hidden" not in str(caught.value)


def test_the_catalog_lies_in_the_state_folder_which_is_made(tmp_path):
    state = tmp_path / "state"

    settings = localized(GLUE, {"GLUEPOT_STATE": str(state)})

    assert settings["spark.sql.catalog.glue_catalog.uri"].startswith(f"jdbc:sqlite:{state}/catalog.db")
    assert settings["spark.sql.catalog.glue_catalog.warehouse"] == f"{state}/warehouse"
    assert state.is_dir()


def test_nothing_is_mapped_for_who_means_aws(tmp_path):
    assert localized(GLUE, {"GLUEPOT_STATE": str(tmp_path), AWS: "true"}) == {}
    assert localized(GLUE, {"GLUEPOT_STATE": str(tmp_path), AWS: "false"}) != {}


def test_a_job_without_iceberg_leaves_no_folder(tmp_path):
    assert localized({"spark.master": "local[1]"}, {"GLUEPOT_STATE": str(tmp_path / "state")}) == {}
    assert not (tmp_path / "state").exists()
