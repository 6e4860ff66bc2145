"""Modules and methods, for as long as a job runs; frames are stood for by objects of the class that were never read."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from awsglue.dynamicframe import DynamicFrame
from gluepot.core.errors import ConfigError
from gluepot.job.custom_transforms import attached, fetched, in_folder

DESCRIPTOR = '{"name": "t", "functionName": "shout_loud", "parameters": [{"name": "word", "type": "str"}, {"name": "n", "type": "int", "isOptional": true}]}'
FUNCTION = """
from awsglue import DynamicFrame
def shout_loud(self, word, n=7):
    self.heard = (word, n)
    return self if word != "none" else None
DynamicFrame.shout_loud = shout_loud
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shout_module.json").write_text(DESCRIPTOR)
    (tmp_path / "shout_module.py").write_text(FUNCTION)
    return tmp_path


@pytest.fixture
def frame():
    return object.__new__(DynamicFrame)


def test_a_folder_gives_methods_whose_arguments_are_checked(folder, frame):
    with attached(in_folder(str(folder), folder)):
        importlib.import_module("shout_module")
        assert frame.shout_loud("a").heard == ("a", 7)
        assert frame.shout_loud(word="b", n=None).heard == ("b", 7)
        assert frame.shout_loud("c", 1).heard == ("c", 1)
        with pytest.raises(ConfigError, match="parameter 'word' is 3"):
            frame.shout_loud(word=3)
        with pytest.raises(TypeError):
            frame.shout_loud("a", 1, 2)
        with pytest.raises(ConfigError, match="t returned a NoneType; return a DynamicFrame"):
            frame.shout_loud("none")

    assert not hasattr(DynamicFrame, "shout_loud")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("shout_module")


def test_a_python_file_brings_the_descriptor_beside_it(folder):
    path, transform = fetched(str(folder / "shout_module.py"), folder)
    (folder / "plain.py").touch()

    assert (path, transform.descriptor.name) == (folder / "shout_module.py", "t")
    assert fetched(str(folder / "plain.py"), folder) == (folder / "plain.py", None)


def test_the_descriptor_may_say_where_its_python_file_is(folder):
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "shout_module.py", folder / "elsewhere" / "code.py")
    (folder / "shout_module.json").write_text(DESCRIPTOR[:-1] + f', "path": "{folder}/elsewhere/code.py"}}')

    assert [one.module for one in in_folder(str(folder), folder)] == [folder / "elsewhere" / "code.py"]


def test_a_descriptor_without_its_python_file_is_refused(folder):
    (folder / "shout_module.py").unlink()

    with pytest.raises(ConfigError, match=r"There is no file shout_module\.py in"):
        in_folder(str(folder), folder)


def test_a_folder_without_transforms_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="has no transforms"):
        in_folder(str(tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", r"shout_module\.py gives DynamicFrame no shout_loud; end it with `DynamicFrame\.shout_loud = shout_loud`"),
        (
            "from awsglue import DynamicFrame\nDynamicFrame.shout_loud = lambda self, word: self",
            r"parameters\[1\]\.name: 'n' is no parameter of shout_loud, which has word",
        ),
    ],
)
def test_a_module_that_does_not_go_with_its_descriptor_is_refused(folder, code, said):
    (folder / "shout_module.py").write_text(code)

    with pytest.raises(ConfigError, match=said), attached(in_folder(str(folder), folder)):
        pass
    assert not hasattr(DynamicFrame, "shout_loud")


def test_the_name_of_another_module_is_refused(folder: Path):
    (folder / "shout_module.json").rename(folder / "colorsys.json")
    (folder / "shout_module.py").rename(folder / "colorsys.py")

    with (
        pytest.raises(ConfigError, match=r"colorsys\.py has the name of another module \(.*colorsys\.py\); rename it"),
        attached(in_folder(str(folder), folder)),
    ):
        pass
