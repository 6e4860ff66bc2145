from __future__ import annotations

import pytest

from gluepot.core.disk import require_free
from gluepot.core.errors import ConfigError


def test_room_is_measured_where_a_missing_folder_would_be(tmp_path):
    require_free(tmp_path / "not" / "yet", 1)
    assert not (tmp_path / "not").exists()


def test_full_disk_is_named_with_both_sizes(tmp_path):
    with pytest.raises(ConfigError, match=r"GiB free and 1073741824\.0 GiB are needed; make room"):
        require_free(tmp_path, 1 << 60)
