"""A stranger's first hour: the wheel in an empty environment, and the commands of the tutorial and nothing else."""

from __future__ import annotations

import os

import pytest

from gluepot.core.cachedir import cache_root
from scripts.first_hour import document, spend


@pytest.mark.long
def test_a_stranger_comes_from_nothing_to_a_verified_stream(tmp_path):
    hour = spend(tmp_path, os.environ, cache_root(os.environ))

    assert [wrong for one in hour.commands if (wrong := one.wrong())] == []
    assert "9,000 rows, 0 rejected, 0 filtered" in document(hour, tmp_path)
