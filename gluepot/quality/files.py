"""Rules about files: which files a rule is about, and how many of them fulfil it (docs/glue 12.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gluepot.quality.dqdl.ruleset import Number, Operator, Rule, Tag, Text
from gluepot.quality.numbers import Comparison, RuleError
from gluepot.quality.values import check_pattern, has_part

TYPES = frozenset({"FileFreshness", "FileSize", "FileUniqueness", "FileMatch"})
HASHES: Mapping[str, str] = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256"}
"""Python's names of the hash algorithms."""
_FILTERS = ("recentFiles", "uriRegex")


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file.

    Args:
        url: where it lies.
        name: the last part of the URL.
        size_bytes: its length.
        mtime_us: last modification, in microseconds since 1970.
        digest: returns the hash of its content in hexadecimal, given Python's name of the algorithm.
    """

    url: str
    name: str
    size_bytes: int
    mtime_us: int
    digest: Callable[[str], str]


def chosen(rule: Rule, files: Sequence[CheckedFile]) -> list[CheckedFile]:
    """Return the files that the rule's tags choose: by default first the newest ones, then those whose URL matches.

    Raises:
        RuleError: a tag cannot be used.
    """
    found = sorted(files, key=lambda one: (one.mtime_us, one.url))
    for name in _order(rule):
        tag = rule.tag(name)
        if tag is None:
            continue
        if name == "recentFiles":
            number = tag.operands[0]
            if not isinstance(number, Number) or not number.text.isdigit() or number.text == "0":
                raise RuleError(f"recentFiles is {number}; use an integer from 1.")
            found = found[-int(number.text) :]
        else:
            pattern = _text(tag)
            if error := check_pattern(pattern):
                raise RuleError(f"uriRegex {pattern} is not a regular expression: {error}")
            found = [one for one in found if has_part(one.url, pattern)]
    return found


def _order(rule: Rule) -> Sequence[str]:
    tag = rule.tag("filterOrder")
    if tag is None:
        return _FILTERS
    order = [_text_of(one) for one in tag.operands]
    if unknown := set(order) - set(_FILTERS):
        raise RuleError(f"filterOrder names {', '.join(sorted(unknown))}; use {' and '.join(_FILTERS)}.")
    return order


def file_metrics(
    rule: Rule, files: Sequence[CheckedFile], others: Sequence[CheckedFile] | None, test: Comparison | None
) -> Mapping[str, float]:
    """Return the metrics of a rule, the one that is judged first.

    Args:
        rule: one of `TYPES`.
        files: the files that it is about.
        others: the files that these are compared with, for FileMatch with two paths.
        test: the rule's condition with values, for FileFreshness and FileSize.

    Raises:
        RuleError: there are no files, or a tag cannot be used.
    """
    if not files:
        raise RuleError("There are no files to judge.")
    count = {"Dataset.*.FileCount": float(len(files))}
    match rule.type_name:
        case "FileFreshness":
            assert test is not None
            share = sum(test.holds(one.mtime_us / 1e6) for one in files) / len(files)
            return {"Dataset.*.FileFreshness.Compliance": share, **count}
        case "FileSize":
            assert test is not None
            sizes = [one.size_bytes for one in files]
            share = sum(map(test.holds, sizes)) / len(files)
            extremes = {"MinimumFileSize": min(sizes), "MaximumFileSize": max(sizes)}
            named = {f"Dataset.*.{name}": float(size) for name, size in extremes.items()}
            return {"Dataset.*.FileSize.Compliance": share, **count, **named}
        case "FileUniqueness":
            keys = _keys(rule, files)
            times = Counter(keys)
            once = sum(times[key] == 1 for key in keys)
            return {"Dataset.*.FileUniquenessRatio": once / len(files), **count}
        case _:
            return {"Dataset.*.FileMatch.Compliance": _matching(rule, files, others), **count}


def _matching(rule: Rule, files: Sequence[CheckedFile], others: Sequence[CheckedFile] | None) -> float:
    if rule.condition is not None:
        if rule.condition.operator not in {Operator.IN, Operator.EQUAL}:
            raise RuleError(f"FileMatch compares by in, not by {rule.condition.operator.value}.")
        wanted = {_text_of(one).lower() for one in rule.condition.operands}
        algorithm = _algorithm(rule)
        return sum(one.digest(algorithm) in wanted for one in files) / len(files)
    if others is None:
        raise RuleError('FileMatch needs two paths, or one with `in ["hash", ...]`.')
    mine, theirs = Counter(_keys(rule, files)), Counter(_keys(rule, others))
    return (mine & theirs).total() / max(mine.total(), theirs.total())


def _keys(rule: Rule, files: Sequence[CheckedFile]) -> list[tuple[str, str]]:
    tag = rule.tag("matchFileName")
    by_name = tag is not None and _text(tag).lower() == "true"
    algorithm = _algorithm(rule)
    return [(one.digest(algorithm), one.name if by_name else "") for one in files]


def _algorithm(rule: Rule) -> str:
    tag = rule.tag("hashAlgorithm")
    wanted = "SHA-256" if tag is None else _text(tag).upper()
    if wanted not in HASHES:
        raise RuleError(f"hashAlgorithm is {wanted}; use one of {', '.join(HASHES)}.")
    return HASHES[wanted]


def _text(tag: Tag) -> str:
    return _text_of(tag.operands[0])


def _text_of(operand: object) -> str:
    return operand.value if isinstance(operand, Text) else str(operand)
