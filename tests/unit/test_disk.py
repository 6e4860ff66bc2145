from __future__ import annotations

import pytest

from gluepot.core.disk import require_free, used_bytes
from gluepot.core.errors import ConfigError


def test_room_is_measured_where_a_missing_folder_would_be(tmp_path):
    require_free(tmp_path / "not" / "yet", 1)
    assert not (tmp_path / "not").exists()


def test_full_disk_is_named_with_both_sizes(tmp_path):
    with pytest.raises(ConfigError, match=r"GiB free and 1073741824\.0 GiB are needed; make room"):
        require_free(tmp_path, 1 << 60)


def test_files_that_go_while_the_others_are_measured_count_nothing(tmp_path):
    (tmp_path / "frame").mkdir()
    (tmp_path / "frame" / "0.parquet").write_bytes(b"12345")
    (tmp_path / "frame" / "1.parquet").symlink_to(tmp_path / "removed")
    assert used_bytes(tmp_path) == 5
    assert used_bytes(tmp_path / "removed") == 0
