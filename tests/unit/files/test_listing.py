from __future__ import annotations

import os
from pathlib import Path

import pytest

from gluepot.connectors.files.source.globs import compile_globs, read_exclusions
from gluepot.connectors.files.source.listing import ListingOptions, ListingStats, list_files
from gluepot.connectors.files.source.predicate import parse_predicate
from gluepot.core.errors import ConfigError


def make(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)


def found(root: Path, stats: ListingStats | None = None, **options) -> list[str]:
    listing = list_files(ListingOptions([str(root)], **options), stats or ListingStats())
    return sorted(os.path.relpath(file.url, root) for file in listing)


def test_partitions_are_read_and_other_folders_only_with_recurse(tmp_path):
    make(tmp_path, "a", "day=1/b", "day=1/hour=2/c", "other/d", "day=1/other/e")
    stats = ListingStats()
    assert found(tmp_path, stats) == ["a", "day=1/b", "day=1/hour=2/c"]
    assert sorted(stats.not_descended) == ["day=1/other", "other"]
    assert found(tmp_path, recurse=True) == ["a", "day=1/b", "day=1/hour=2/c", "day=1/other/e", "other/d"]


def test_hidden_files_and_folders_are_left_out(tmp_path):
    make(tmp_path, "_SUCCESS", ".crc", "_gluepot/x", "a", "_day=1/b", "day=1_$folder$")
    assert found(tmp_path, recurse=True) == ["_day=1/b", "a"]


def test_a_path_may_be_a_file(tmp_path):
    make(tmp_path, "day=1/a", "day=1/b")
    (file,) = list_files(ListingOptions([str(tmp_path / "day=1/a")]), ListingStats())
    assert (file.name, file.size_bytes) == ("a", 7)


def test_a_missing_path_holds_nothing(tmp_path):
    assert found(tmp_path / "nothing") == []


def test_overlapping_paths_give_every_file_once(tmp_path):
    make(tmp_path, "a/b", "c")
    listing = list_files(ListingOptions([str(tmp_path / "a"), str(tmp_path)], recurse=True), ListingStats())
    assert sorted(file.name for file in listing) == ["b", "c"]


def test_overlapping_paths_give_every_file_once_without_recurse_too(tmp_path):
    make(tmp_path, "day=1/b", "c")
    listing = list_files(ListingOptions([str(tmp_path / "day=1"), str(tmp_path)]), ListingStats())
    assert sorted(file.name for file in listing) == ["b", "c"]


def test_only_folders_that_can_match_are_listed(tmp_path):
    make(tmp_path, "year=2023/month=1/a", "year=2024/month=1/b", "year=2024/month=2/c")
    (tmp_path / "year=2023").chmod(0)
    stats = ListingStats()
    predicate = parse_predicate("year = '2024' and month > 1")
    assert found(tmp_path, stats, predicate=predicate) == ["year=2024/month=2/c"]
    assert (stats.not_matching, stats.unmatched) == (2, 0)


def test_files_without_a_column_of_the_predicate_are_counted(tmp_path):
    make(tmp_path, "year=2023/a", "year=2024/b", "c")
    stats = ListingStats()
    assert found(tmp_path, stats, predicate=parse_predicate("yaer = '2024'")) == []
    assert stats.unmatched == 3


@pytest.mark.parametrize(
    ("globs", "left"),
    [
        ('["**.pdf"]', ["day=1/b.json", "x.json"]),
        ('["day=1/**"]', ["x.json", "x.pdf"]),
        ('["*.json"]', ["day=1/c.pdf", "x.pdf"]),
        ('["x.{pdf,json}"]', ["day=1/b.json", "day=1/c.pdf"]),
        ('["[a-c].*"]', ["x.json", "x.pdf"]),
        ('["**/?.pdf"]', ["day=1/b.json", "x.json"]),
        ("[]", ["day=1/b.json", "day=1/c.pdf", "x.json", "x.pdf"]),
    ],
)
def test_exclusions_are_globs(tmp_path, globs, left):
    make(tmp_path, "x.pdf", "x.json", "day=1/b.json", "day=1/c.pdf")
    assert found(tmp_path, exclusions=compile_globs(read_exclusions(globs))) == left


def test_an_exclusion_may_be_a_whole_path(tmp_path):
    make(tmp_path, "a/x", "b/x")
    globs = compile_globs([f"{tmp_path}/a/**"])
    assert found(tmp_path, recurse=True, exclusions=globs) == ["b/x"]


def test_exclusions_that_are_no_list_are_said():
    with pytest.raises(ConfigError, match="JSON list of globs"):
        read_exclusions("[*.pdf")


def test_hostile_names_come_back_as_they_are(tmp_path):
    names = ["day=a%2Fb/x y", "day=ü/q?#[1].json", "day=1/a\nb", "x%", "day=1/'\""]
    make(tmp_path, *names)
    assert found(tmp_path) == sorted(names)


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("*", ["a1.csv", "a2.csv", "day=1/c", "s/x.csv"]),
        ("*.csv", ["a1.csv", "a2.csv"]),
        ("a?.csv", ["a1.csv", "a2.csv"]),
        ("a[0-1].csv", ["a1.csv"]),
        ("a[!1].csv", ["a2.csv"]),
        ("{a1,a3}.csv", ["a1.csv"]),
        ("{a1.csv,s}", ["a1.csv", "s/x.csv"]),
        ("{s/x,a2}.csv", ["a2.csv", "s/x.csv"]),
        ("*/x.csv", ["s/x.csv"]),
        ("d*=[1]/*", ["day=1/c"]),
        ("s*/", ["s/x.csv"]),
        ("_*", []),
        ("b*.csv", []),
    ],
)
def test_wildcards_in_a_path_find_what_they_find_in_spark(tmp_path, path, files):
    make(tmp_path, "a1.csv", "a2.csv", "_SUCCESS", "_h/a", "day=1/c", "s/x.csv", "s/inner/y.csv", "s/.z.csv")
    stats = ListingStats()
    listing = list_files(ListingOptions([f"{tmp_path}/{path}"]), stats)
    assert sorted(os.path.relpath(file.url, tmp_path) for file in listing) == files
    assert bool(stats.without_files) is not bool(files)


def test_a_name_with_the_characters_of_wildcards_is_itself(tmp_path):
    make(tmp_path, "a[1].csv", "a1.csv", "d*/b", "dd/c")
    paths = [str(tmp_path / "a[1].csv"), str(tmp_path / "d*")]
    listing = list_files(ListingOptions(paths), ListingStats())
    assert sorted(file.name for file in listing) == ["a[1].csv", "b"]


def test_exclusions_hold_for_files_that_wildcards_find(tmp_path):
    make(tmp_path, "a.csv", "b.csv", "s/b.csv")
    stats = ListingStats()
    options = ListingOptions([f"{tmp_path}/*"], exclusions=compile_globs(["b.*"]))
    assert [file.name for file in list_files(options, stats)] == ["a.csv"]
    assert stats.excluded == 2
