"""Rules about files: which files they choose and what they measure."""

import hashlib

import pytest

from gluepot.quality.dqdl.parser import parse
from gluepot.quality.files import CheckedFile, chosen, file_metrics
from gluepot.quality.numbers import Moment, RuleError, comparison_of

DAY_SECS = 86_400
NOW = Moment(1_700_000_000.0)


def file(name: str, content: bytes = b"", age_days: float = 0) -> CheckedFile:
    mtime_us = round((NOW.epoch_secs - age_days * DAY_SECS) * 1e6)
    digest = lambda algorithm: hashlib.new(algorithm, content).hexdigest()  # noqa: E731
    return CheckedFile(f"s3://bucket/in/{name}", name, len(content), mtime_us, digest)


FILES = [file("c.csv", b"12345", 0.5), file("a.json", b"1", 3), file("b.json", b"1", 2)]


def rule(text: str):
    return parse(f"Rules = [ {text} ]").rules[0]


def metrics(text: str, files=FILES, others=None) -> dict[str, float]:
    given = rule(text)
    needs_test = given.type_name in {"FileFreshness", "FileSize"}
    test = comparison_of(given.condition, NOW) if needs_test else None
    return dict(file_metrics(given, chosen(given, files), others, test))


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        ("", ["a.json", "b.json", "c.csv"]),
        ("with recentFiles = 2", ["b.json", "c.csv"]),
        ('with uriRegex = ".*json$"', ["a.json", "b.json"]),
        ('with recentFiles = 2 with uriRegex = "json"', ["b.json"]),
        (
            'with recentFiles = 2 with uriRegex = "json" with filterOrder = ["uriRegex","recentFiles"]',
            ["a.json", "b.json"],
        ),
    ],
)
def test_tags_choose_files(tags, names):
    assert [one.name for one in chosen(rule(f"FileSize > 1 B {tags}"), FILES)] == names


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("FileFreshness > (now() - 1 days)", 1 / 3),
        ("FileFreshness between (now() - 4 days) and (now() - 1 days)", 2 / 3),
        ("FileSize > 1 B", 1 / 3),
        ("FileSize in [1 B, 5 B]", 1.0),
        ("FileUniqueness > 0.1", 1 / 3),
        ('FileUniqueness > 0.1 with matchFileName = "true"', 1.0),
        (f'FileMatch in ["{hashlib.sha256(b"1").hexdigest()}"]', 2 / 3),
        (f'FileMatch in ["{hashlib.md5(b"1").hexdigest().upper()}"] with hashAlgorithm = "MD5"', 2 / 3),
    ],
)
def test_the_share_of_files_comes_first(text, share):
    found = metrics(text)
    assert next(iter(found.values())) == pytest.approx(share)
    assert found["Dataset.*.FileCount"] == 3


def test_sizes_have_extremes():
    found = metrics("FileSize < 1 KB")
    assert (found["Dataset.*.MinimumFileSize"], found["Dataset.*.MaximumFileSize"]) == (1, 5)


def test_two_folders_match_if_they_hold_the_same_contents():
    others = [file("x.json", b"1"), file("y.json", b"1"), file("z.csv", b"12345")]
    assert metrics('FileMatch "one" "two"', others=others)["Dataset.*.FileMatch.Compliance"] == 1.0
    assert metrics('FileMatch "one" "two"', others=others[1:])["Dataset.*.FileMatch.Compliance"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "files", "message"),
    [
        ("FileSize > 1 B", [], "There are no files to judge."),
        ('FileSize > 1 B with recentFiles = "two"', FILES, "recentFiles is"),
        ('FileSize > 1 B with uriRegex = "("', FILES, "is not a regular expression"),
        ('FileSize > 1 B with filterOrder = ["size"]', FILES, "filterOrder names size"),
        (
            'FileMatch in ["x"] with hashAlgorithm = "CRC"',
            FILES,
            "hashAlgorithm is CRC; use one of MD5, SHA-1, SHA-256.",
        ),
        ('FileMatch "one"', FILES, "FileMatch needs two paths"),
    ],
)
def test_what_cannot_be_judged_says_why(text, files, message):
    with pytest.raises(RuleError, match=message.replace("(", r"\(")):
        metrics(text, files)
