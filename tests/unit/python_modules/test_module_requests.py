"""What a job asks pip for."""

from __future__ import annotations

import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.python_modules.requests import (
    Kept,
    key_of,
    local_folders,
    local_paths,
    reason_of,
    request_of,
    surplus,
)
from gluepot.core.python_modules.site_path import other_versions, placed


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("", ()),
        ("openpyxl", ("openpyxl",)),
        (" a==1.0 , s3://b/c-1.whl,, d", ("a==1.0", "s3://b/c-1.whl", "d")),
        ("pandas>=2,<3,numpy", ("pandas>=2,<3", "numpy")),
        ("a[b,c]==1,d~=2,!=2.1", ("a[b,c]==1", "d~=2,!=2.1")),
    ],
)
def test_commas_separate_modules_but_not_the_parts_of_one(text, modules):
    assert request_of(text, "").modules == modules


def test_files_are_fetched_and_names_and_addresses_are_left_to_pip():
    text = "a==1,s3://b/c-1.whl,d-1.whl,https://e/f-1.whl,g @ https://h/i-1.whl,s3a://j/k.gluewheels.zip,/l/requirements.txt"
    assert request_of(text, "").files == (
        "s3://b/c-1.whl",
        "d-1.whl",
        "s3a://j/k.gluewheels.zip",
        "/l/requirements.txt",
    )


def test_options_are_read_as_on_a_command_line():
    request = request_of("a", "--no-index --find-links='/my wheels' -f/more -f file:///third --find-links https://x/y")
    assert request.options[:2] == ("--no-index", "--find-links=/my wheels")
    assert local_folders(request.options) == ["/my wheels", "/more", "/third"]


@pytest.mark.parametrize(
    "option", ["--target=/x", "-t /x", "--user", "--prefix /x", "--dry-run", "-e .", "-t/x", "--tar /x"]
)
def test_another_place_to_install_to_is_refused(option):
    with pytest.raises(ConfigError, match=f"has {option.split('=')[0].split()[0]}, which Gluepot sets itself"):
        request_of("a", option)


@pytest.mark.parametrize("option", ["--pre", "--no-deps", "--trusted-host x", "--root-user-action=ignore"])
def test_other_options_are_pips(option):
    assert request_of("a", option).options == tuple(option.split())


def test_what_pip_reads_from_this_machine_is_known():
    modules = "a,file:///b-1.whl,c @ file:///c-1.whl,https://d/e.whl,f-1.whl,./g"
    request = request_of(modules, "-c h.txt -ri.txt --constraint=j.txt --requirement k.txt --no-cache-dir")
    files = ["h.txt", "i.txt", "j.txt", "k.txt", "/b-1.whl", "/c-1.whl"]
    assert local_paths(request) == [*files, "https://d/e.whl", "./g"]


def test_an_open_quote_is_refused():
    with pytest.raises(ConfigError, match="close its quotes"):
        request_of("a", "--find-links='x")


def key(modules="a,b==1", options="", files=(), links=(), place=("3.13",), day="1"):
    return key_of(request_of(modules, options), files, links, place, day)


@pytest.mark.parametrize(
    "change",
    [
        {"modules": "a,b==2"},
        {"modules": "b==1,a"},
        {"options": "--no-index"},
        {"files": ["0f"]},
        {"links": ["a-1.whl 10 5"]},
        {"place": ["3.12"]},
    ],
)
def test_all_that_can_change_the_content_is_in_the_key(change):
    assert key(**change) != key()


def test_the_day_is_in_the_key_only_where_the_newest_version_is_wanted():
    assert key(day="2") == key()
    assert key(options="--upgrade", day="2") != key(options="--upgrade")


def test_a_token_in_an_address_is_neither_in_the_key_nor_in_messages():
    first, second = (f"--index-url=https://aws:{token}@x/simple" for token in ("one", "two"))
    assert key(options=first) == key(options=second)
    assert str(request_of("a @ https://u:secret@h/a.whl", "")) == "a @ https://****@h/a.whl"
    assert reason_of("ERROR: cannot reach https://u:secret@h/a.whl.") == "cannot reach https://****@h/a.whl"


def test_the_first_error_of_pip_is_its_reason():
    said = "Looking in links\nERROR: Cannot install a and b.\nERROR: ResolutionImpossible: for help visit x\n"
    assert reason_of(said) == "Cannot install a and b"
    assert reason_of("pip: killed\n") == "pip: killed"
    assert reason_of("") == "it printed no message"


def test_what_was_used_longest_ago_is_removed_and_the_newest_never():
    kept = [Kept("old", 5, 1.0), Kept("newest", 30, 9.0), Kept("middle", 5, 5.0)]
    assert surplus(kept, 35) == ["old"]
    assert surplus(kept, 1) == ["middle", "old"]
    assert surplus(kept, 40) == []


def test_modules_come_after_pythons_library_and_before_gluepots_packages():
    path = ["/job", "/lib/python3.13", "/venv/site-packages", "/checkout"]
    assert placed(path, ["/new"], ["/venv/site-packages"]) == [*path[:2], "/new", *path[2:]]
    assert placed(["/lib"], ["/new"], ["/venv"]) == ["/lib", "/new"]


def test_only_another_version_of_what_is_loaded_is_a_conflict():
    theirs = {
        "numpy": ("1.26", {"numpy"}),
        "pandas": ("2.0", {"pandas"}),
        "six": ("1.0", {"six"}),
        "new": ("1", {"new"}),
    }
    ours = {"numpy": "2.1", "pandas": "2.2", "six": "1.0"}
    assert other_versions(theirs, ours, {"six", "new"}) == [("numpy", "1.26", "2.1")]
    assert other_versions(theirs, ours, {"pandas"}) == [("numpy", "1.26", "2.1"), ("pandas", "2.0", "2.2")]
