from __future__ import annotations

import pytest

from gluepot.core.disk import GIB_BYTES
from scripts import test_folder


@pytest.mark.parametrize(
    ("free_gib", "available_gib", "fits"),
    [(24, 16, True), (4, 10, True), (0.0625, 16, False), (24, 8, False)],
)
def test_files_are_in_memory_where_they_fit_beside_the_processes(free_gib, available_gib, fits):
    assert test_folder.fits_in_memory(int(free_gib * GIB_BYTES), int(available_gib * GIB_BYTES)) is fits


def test_without_a_file_system_in_memory_the_folder_is_on_the_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(test_folder, "IN_MEMORY", tmp_path / "none")
    monkeypatch.setattr(test_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    assert test_folder.root() == tmp_path


def test_a_file_system_in_memory_that_is_too_small_is_left_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(test_folder, "IN_MEMORY", tmp_path)
    monkeypatch.setattr(test_folder, "FOLDER_BYTES", 1 << 62)
    assert test_folder.root() != tmp_path
