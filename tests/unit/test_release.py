"""What a release is built from, as far as it can be checked without building for other platforms."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from types import ModuleType

import pytest

from tests.repository import REPOSITORY

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
WHEELS = PYPROJECT["tool"]["cibuildwheel"]


@pytest.fixture
def hatch_build(monkeypatch):
    """The hook that compiles the kernel; hatchling itself is only there while a wheel is built."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", REPOSITORY / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_wheels_are_built_once_with_the_oldest_python_whose_abi_all_later_ones_have(hatch_build):
    oldest = PYPROJECT["project"]["requires-python"].split(",")[0].removeprefix(">=3.")
    assert WHEELS["build"] == f"cp3{oldest}-*"
    assert all(compiled.name.endswith(".abi3.so") for compiled in hatch_build.KERNELS.values())


def test_wheels_are_built_for_linux_and_macos_on_both_processors():
    assert (WHEELS["linux"]["archs"], WHEELS["macos"]["archs"]) == (["x86_64", "aarch64"], ["x86_64", "arm64"])
    images = {name: image for name, image in WHEELS["linux"].items() if name.endswith("-image")}
    assert images == {"manylinux-x86_64-image": "manylinux_2_28", "manylinux-aarch64-image": "manylinux_2_28"}


def test_the_kernel_is_compiled_for_the_processor_that_a_wheel_is_for(hatch_build):
    flags = hatch_build.flags
    assert flags("darwin", {"ARCHFLAGS": "-arch arm64"})[-2:] == ["-arch", "arm64"]
    assert "-undefined" not in flags("linux", {"ARCHFLAGS": "-arch arm64"})


def test_every_extra_is_named_in_the_readme():
    readme = (REPOSITORY / "README.md").read_text()
    assert [extra for extra in PYPROJECT["project"]["optional-dependencies"] if f"`{extra}`" not in readme] == []
