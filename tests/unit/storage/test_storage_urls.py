from __future__ import annotations

from pathlib import Path

import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.storage import LocalStorage, S3Storage, canonical_url, open_storage


@pytest.mark.parametrize("url", ["/data/t", "file:/data/t", "file:///data/t", "FILE:///data/t", "/data/t/"])
def test_local_paths_and_file_urls_are_folders(url):
    assert open_storage(url) == LocalStorage(Path("/data/t"))


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3"])
def test_all_spellings_of_s3_are_s3(scheme):
    assert open_storage(f"{scheme}://lake/clicks//day/") == S3Storage("lake", "clicks/day")


def test_a_bucket_alone_is_a_root():
    assert canonical_url("s3a://lake") == "s3://lake"


def test_a_relative_path_becomes_absolute_so_that_workers_agree(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert canonical_url("out") == str(tmp_path / "out")


@pytest.mark.parametrize("url", ["", "file:", "s3://", "s3:///x", "hdfs://host/x", "gs://b/x"])
def test_other_paths_are_configuration_errors_that_show_the_path(url):
    with pytest.raises(ConfigError, match="path '"):
        open_storage(url)
