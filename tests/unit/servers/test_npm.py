from __future__ import annotations

import io
import json
import os
import tarfile

import pytest

from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.servers import npm
from gluepot.servers.npm import ensure, find_package, integrity_of, lock_path, unpack


def archive(path, name="package/main.js", content=b"1"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as packed:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        packed.addfile(entry, io.BytesIO(content))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache, a lock with one package, and an `npm` that is a script of the test's."""
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    lock = tmp_path / "npm.lock.json"
    monkeypatch.setattr(npm, "lock_path", lambda: lock)
    archive(tmp_path / "registry.tgz")
    lock.write_text(json.dumps({"p": {"version": "1.0.0", "integrity": integrity_of(tmp_path / "registry.tgz")}}))
    return tmp_path


def npm_does(folder, script):
    (folder / "bin").mkdir()
    (folder / "bin" / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / "npm").chmod(0o755)


def test_the_shipped_lock_names_the_emulator_by_version_and_hash():
    locked = find_package(lock_path().read_text(), "kinesis-local")
    assert locked.integrity.startswith("sha512-")
    assert locked.archive == f"kinesis-local-{locked.version}.tgz"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"p": {"version": "1"}}'])
def test_a_lock_without_the_package_is_a_config_error(text):
    with pytest.raises(ConfigError, match=r"restore deploy/npm\.lock\.json"):
        find_package(text, "p")


def test_a_hash_is_what_npm_writes(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert integrity_of(tmp_path / "empty").startswith(
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwv"
    )


def test_what_the_cache_lacks_is_fetched_once(cache):
    npm_does(cache, f'cp {cache}/registry.tgz p-1.0.0.tgz; echo "$@" >> {cache}/asked')
    for _ in range(2):
        assert (unpack(ensure("p"), cache / "here") / "main.js").read_bytes() == b"1"
    assert (cache / "asked").read_text() == "pack p@1.0.0 --ignore-scripts\n"


def test_an_archive_that_was_changed_in_the_cache_is_fetched_again(cache):
    npm_does(cache, f"cp {cache}/registry.tgz p-1.0.0.tgz")
    archive(cache / "home" / "npm" / "p-1.0.0.tgz", content=b"forged")
    assert (unpack(ensure("p"), cache / "here") / "main.js").read_bytes() == b"1"


def test_a_fetched_archive_that_is_not_the_locked_one_is_refused_and_not_kept(cache):
    npm_does(cache, "echo forged > p-1.0.0.tgz")
    with pytest.raises(PermanentError, match=r"p-1\.0\.0\.tgz has sha512-.* is locked"):
        ensure("p")
    assert list((cache / "home" / "npm").iterdir()) == []


def test_a_registry_that_is_away_is_said_in_npms_last_words(cache):
    npm_does(cache, "echo first >&2; echo no route >&2; exit 1")
    with pytest.raises(TransientError, match=r"npm package p 1\.0\.0 could not be fetched \(no route\)"):
        ensure("p")


def test_files_of_an_earlier_version_do_not_stay(cache):
    npm_does(cache, f"cp {cache}/registry.tgz p-1.0.0.tgz")
    (cache / "here" / "package").mkdir(parents=True)
    (cache / "here" / "package" / "old.js").touch()
    assert [path.name for path in unpack(ensure("p"), cache / "here").iterdir()] == ["main.js"]


def test_a_machine_without_node_is_told_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"no node on PATH.*install Node\.js"):
        npm.require_program("node")
