"""`--extra-files`: copies in the working folder for as long as the job runs."""

import pytest

from gluepot.core.errors import ConfigError
from gluepot.job.extra_files import extra_files


@pytest.fixture
def given(tmp_path, monkeypatch):
    (tmp_path / "given" / "more").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    for name in ("one.json", "more/two.json", "more/three.json"):
        (tmp_path / "given" / name).write_text(name)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "given"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_and_folders_are_copied_and_the_copies_go_at_the_end(given, tmp_path):
    with extra_files([str(given / "one.json"), f"{given}/more/"]) as paths:
        assert [path.name for path in paths] == ["one.json", "three.json", "two.json"]
        assert (tmp_path / "work" / "two.json").read_text() == "more/two.json"
    assert names(tmp_path / "work") == []
    assert names(given) == ["more", "one.json"]


def test_a_file_that_is_there_stays(given):
    (given.parent / "work" / "one.json").write_text("one.json")
    with extra_files([str(given / "one.json"), "one.json"]):
        pass
    assert names(given.parent / "work") == ["one.json"]


def test_another_file_of_that_name_is_not_overwritten(given):
    (given.parent / "work" / "one.json").write_text("mine.json")
    with pytest.raises(ConfigError, match=r"another file of that name"), extra_files([str(given / "one.json")]):
        pass
    assert (given.parent / "work" / "one.json").read_text() == "mine.json"


def test_a_file_that_does_not_exist_is_told(given):
    with pytest.raises(ConfigError, match=r"--extra-files has '.*/four.json'; there is no such file"):
        extra_files([str(given / "four.json")]).__enter__()
