from __future__ import annotations

from pathlib import Path

import pytest

from gluepot.core.cachedir import cache_root


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"GLUEPOT_HOME": "/own", "XDG_CACHE_HOME": "/xdg"}, Path("/own")),
        ({"XDG_CACHE_HOME": "/xdg"}, Path("/xdg/gluepot")),
        ({}, Path.home() / ".cache" / "gluepot"),
    ],
)
def test_own_variable_comes_before_the_desktops(environ, folder):
    assert cache_root(environ) == folder
