from __future__ import annotations

import pytest

from gluepot.core.storage import LocalStorage
from tests.unit.commit.power import ROOT, PowerDisk


@pytest.fixture
def disk():
    return PowerDisk()


def test_a_file_that_was_moved_is_under_its_new_name_alone_after_a_power_cut(disk):
    storage = LocalStorage(ROOT, disk)
    storage.put("commits/6", b"v1")
    storage.move([("commits/6", "backup/6")])
    for survivor in disk.survivors():
        assert LocalStorage(ROOT, survivor).list("") == ["backup/6"]
