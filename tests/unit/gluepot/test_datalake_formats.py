from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gluepot.core.errors import ConfigError
from gluepot.datalake import archives_of, with_formats
from gluepot.servers.jars import fetch
from gluepot.servers.jars.lockfile import JarSet, LockedJar, Module, dump_lock, lock_path, parse_lock

MODULE = Module("io.delta", "delta-storage", "4.2.0")
BYTES = b"an archive"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A lock with one archive of Delta's, and the folder that may hold it."""
    lock = tmp_path / "jars.lock.json"
    jar = LockedJar(MODULE, hashlib.sha256(BYTES).hexdigest())
    lock.write_text(dump_lock({"delta": JarSet((MODULE,), transitive=False, jars=(jar,))}))
    monkeypatch.setattr(fetch, "lock_path", lambda: lock)
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    return tmp_path / "shelf"


def put(shelf):
    shelf.mkdir()
    (shelf / MODULE.path.name).write_bytes(BYTES)


def test_archives_are_taken_from_the_folder_that_is_named(shelf):
    put(shelf)

    assert archives_of(["delta"], (), shelf) == [shelf / "delta-storage-4.2.0.jar"]


def test_archives_are_taken_from_the_cache_unless_a_folder_is_named(shelf, tmp_path):
    cached = tmp_path / "home" / "jars" / MODULE.path
    cached.parent.mkdir(parents=True)
    cached.write_bytes(BYTES)

    assert archives_of(["delta"], (), None) == [cached]


def test_a_missing_archive_is_named_with_the_command_that_fetches_it(shelf):
    with pytest.raises(ConfigError, match=r"delta-storage-4\.2\.0\.jar .* not there; run `gluepot jars fetch delta`"):
        archives_of(["delta"], (), None)


def test_an_archive_with_other_bytes_is_refused(shelf):
    put(shelf)
    (shelf / MODULE.path.name).write_bytes(b"another")

    with pytest.raises(ConfigError, match=r"other bytes than the locked ones; .*--jars-dir .*copy the folder"):
        archives_of(["delta"], (), shelf)


def test_archives_are_copied_whole_into_a_folder_to_carry(shelf, tmp_path):
    put(shelf)

    fetch.copy_to(tmp_path / "carried", archives_of(["delta"], (), shelf))

    assert [(path.name, path.read_bytes()) for path in (tmp_path / "carried").iterdir()] == [
        ("delta-storage-4.2.0.jar", BYTES)
    ]


def test_hudi_is_brought_by_the_job():
    with pytest.raises(ConfigError, match=r"no build for Spark 4\.1 is bundled; pass one with --extra-jars"):
        archives_of(["hudi"], ("s3://jars/other.jar",), None)
    assert archives_of(["hudi"], ("s3://jars/hudi-spark4.1-bundle_2.13-1.3.0.jar",), None) == []


def test_formats_bring_archives_and_extensions():
    conf = with_formats({}, ["iceberg", "delta"], [Path("/jars/i.jar"), Path("/jars/d.jar")])

    assert conf["spark.jars"] == "/jars/i.jar,/jars/d.jar"
    assert conf["spark.sql.extensions"].split(",") == [
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "io.delta.sql.DeltaSparkSessionExtension",
    ]
    assert conf["spark.sql.catalog.spark_catalog"].endswith("DeltaCatalog")


def test_what_the_job_sets_itself_stays_and_stands_once():
    extension = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    given = {
        "spark.jars": "/own.jar",
        "spark.sql.extensions": extension,
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
    }

    conf = with_formats(given, ["iceberg", "delta"], [Path("/jars/i.jar")])

    assert conf["spark.jars"] == "/own.jar,/jars/i.jar"
    assert conf["spark.sql.extensions"].count(extension) == 1
    assert conf["spark.sql.catalog.spark_catalog"] == given["spark.sql.catalog.spark_catalog"]


def test_a_job_without_formats_is_left_alone():
    assert with_formats({"spark.master": "local[1]"}, (), []) == {"spark.master": "local[1]"}


@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_the_shipped_lock_has_the_archives_of_each_format_for_our_spark(name):
    names = [jar.module.name for jar in parse_lock(lock_path().read_text())[name].jars]

    assert any(one.endswith("-4.1_2.13") or "_4.1_" in one for one in names)


@pytest.mark.parametrize(
    ("given", "partitions"),
    [
        ({"spark.master": "local[2]"}, "4"),
        ({"spark.master": "spark://host:7077"}, None),
        ({"spark.master": "local[2]", "spark.databricks.delta.snapshotPartitions": "9"}, "9"),
    ],
)
def test_the_log_of_delta_is_divided_into_few_tasks_on_one_machine(given, partitions):
    assert with_formats(given, ["delta"], []).get("spark.databricks.delta.snapshotPartitions") == partitions
