from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from gluepot.spark.class_archive import archive_path
from gluepot.spark.java import parse_java_version


def test_the_drivers_jvm_uses_the_archive_of_classes(glue_context):
    gateway = glue_context.spark_session.sparkContext._gateway
    version = gateway.jvm.System.getProperty("java.version")
    archive = archive_path(parse_java_version(f'version "{version}"'))
    if not archive.exists():
        pytest.skip("`make setup` made no archive: this Java cannot")
    mapped = {Path(one.path) for one in psutil.Process(gateway.proc.pid).memory_maps()}
    assert archive in mapped


def test_workers_are_forked_with_the_modules_of_a_task_loaded(glue_context):
    def loaded(_):
        import sys

        return [sorted({"gluepot.engine.task", "gluepot.connectors.kafka.source"} & set(sys.modules))]

    found = glue_context.spark_session.sparkContext.parallelize([0], 1).mapPartitions(loaded).collect()
    assert found == [["gluepot.connectors.kafka.source", "gluepot.engine.task"]]


def test_a_workers_path_has_no_archive_that_every_task_would_read_again(glue_context):
    def path(_):
        import sys

        return [entry for entry in sys.path if entry.endswith((".zip", ".jar")) and "pyspark" in entry]

    assert glue_context.spark_session.sparkContext.parallelize([0], 1).mapPartitions(path).collect() == []


def test_a_worker_keeps_no_archive_open_that_every_task_would_read_again(glue_context):
    def opened(_):
        import sys
        from zipimport import zipimporter

        return [entry for entry, importer in sys.path_importer_cache.items() if isinstance(importer, zipimporter)]

    assert glue_context.spark_session.sparkContext.parallelize([0], 1).mapPartitions(opened).collect() == []
