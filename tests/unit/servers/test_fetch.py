from __future__ import annotations

import hashlib

import pytest

from gluepot.core.errors import PermanentError
from gluepot.servers.jars.fetch import is_intact, require_intact
from gluepot.servers.jars.lockfile import LockedJar, Module

MODULE = Module("org.yaml", "snakeyaml", "2.4")
JAR = LockedJar(MODULE, hashlib.sha256(b"locked").hexdigest())


def write_archive(folder, content):
    path = folder / MODULE.path
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_archive_with_the_locked_bytes_is_intact(tmp_path):
    write_archive(tmp_path, b"locked")
    assert is_intact(tmp_path, JAR)


def test_archive_with_other_bytes_is_named_with_both_hashes(tmp_path):
    write_archive(tmp_path, b"forged")
    with pytest.raises(PermanentError) as caught:
        require_intact(tmp_path, [JAR])
    assert "org.yaml:snakeyaml:2.4" in str(caught.value)
    assert hashlib.sha256(b"forged").hexdigest() in str(caught.value)
    assert JAR.sha256 in str(caught.value)


def test_archive_that_never_came_is_named(tmp_path):
    with pytest.raises(PermanentError, match=r"snakeyaml:2\.4 is not there"):
        require_intact(tmp_path, [JAR])
