from __future__ import annotations

import pytest

from gluepot.core.errors import TransientError
from scripts.bootstrap import run, stamp_text, wanted_extras


def test_stamp_differs_when_other_extras_are_wanted():
    assert stamp_text(["demo"]) != stamp_text(["demo", "jvm"])


def test_stamp_is_the_same_for_the_same_locks():
    assert stamp_text(["demo"]) == stamp_text(["demo"])


def test_java_runtime_is_installed_only_where_the_machine_has_none(monkeypatch, tmp_path):
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert wanted_extras() == ["demo", "jvm"]


def test_failed_step_ends_with_its_name_and_the_remedy():
    with pytest.raises(
        TransientError, match=r"why it failed\n\nThe step 'try' failed; .*connect one, or set the proxy"
    ):
        run("try", "sh", "-c", "echo why it failed; exit 1")
