"""Hadoop's local files in the driver: rights are set by Java itself, and are the rights that `chmod` would set."""

from __future__ import annotations

import os

import pytest

from gluepot.spark.local_files import set_rights_directly
from tests.e2e.jobs import wait_until


class Hadoop:
    """The local file system of the driver, and its layers."""

    def __init__(self, spark) -> None:
        self.spark = spark
        self.jvm = spark._jvm
        self.configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self.inside = self.jvm.java.lang.Class.forName("org.apache.hadoop.fs.FilterFileSystem").getDeclaredField("fs")
        self.inside.setAccessible(True)

    @property
    def files(self):
        return self.path("/").getFileSystem(self.configuration)

    @property
    def layers(self):
        found = [self.files]
        while self.inside.getDeclaringClass().isInstance(found[-1]):
            found.append(self.inside.get(found[-1]))
        return found

    def path(self, place):
        return self.jvm.org.apache.hadoop.fs.Path(f"file://{place}")

    def rights(self, octal):
        return self.jvm.org.apache.hadoop.fs.permission.FsPermission(octal)

    def replace_innermost(self, raw) -> None:
        raw.initialize(self.jvm.java.net.URI("file:///"), self.configuration)
        self.inside.set(self.layers[-2], raw)


@pytest.fixture
def hadoop(glue_context):
    return Hadoop(glue_context.spark_session)


def make_files(hadoop, folder):
    files = hadoop.files
    files.mkdirs(hadoop.path(folder / "open"), hadoop.rights("1777"))
    for name, octal in (("mine", "600"), ("all", "666"), ("group", "750")):
        files.create(hadoop.path(folder / name), True).close()
        files.setPermission(hadoop.path(folder / name), hadoop.rights(octal))
    files.create(hadoop.path(folder / ".temporary"), True).close()
    files.rename(hadoop.path(folder / ".temporary"), hadoop.path(folder / "new"))
    return {one.name: oct(one.stat().st_mode & 0o7777) for one in os.scandir(folder)}


def test_files_and_folders_get_the_rights_that_chmod_gives_them(hadoop, tmp_path):
    hadoop.replace_innermost(hadoop.jvm.org.apache.hadoop.fs.RawLocalFileSystem())
    by_chmod, directly = tmp_path / "chmod", tmp_path / "directly"
    by_chmod.mkdir()
    directly.mkdir()
    expected = make_files(hadoop, by_chmod)
    assert set_rights_directly(hadoop.spark)
    assert hadoop.layers[-1].getClass().getName() == "gluepot.RawFiles"
    assert make_files(hadoop, directly) == expected
    assert {"open", "mine", ".mine.crc", "new", ".new.crc"} < set(expected)


def test_asked_twice_it_changes_nothing(hadoop):
    assert set_rights_directly(hadoop.spark)
    raw = hadoop.layers[-1]
    assert set_rights_directly(hadoop.spark)
    assert hadoop.layers[-1].equals(raw)


def test_a_file_system_of_somebody_else_stays(hadoop):
    own = hadoop.layers[-1]
    hadoop.inside.set(hadoop.layers[-2], hadoop.jvm.org.apache.hadoop.fs.ftp.FTPFileSystem())
    try:
        assert not set_rights_directly(hadoop.spark)
        assert hadoop.layers[-1].getClass().getSimpleName() == "FTPFileSystem"
    finally:
        hadoop.inside.set(hadoop.layers[-2], own)


def test_a_query_does_it_at_its_start(hadoop, numbers):
    hadoop.replace_innermost(hadoop.jvm.org.apache.hadoop.fs.RawLocalFileSystem())
    numbers.run(lambda *_: None)
    wait_until(lambda: hadoop.layers[-1].getClass().getName() == "gluepot.RawFiles", "the other layer")
    assert (numbers.checkpoint / "commits" / "0").exists()
