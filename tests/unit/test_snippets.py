"""What runs the snippets of documents notices what is not as a document says."""

from __future__ import annotations

import os

import pytest

from tests.snippets import blocks, missing, run


def page(*commands: str, mark: str = "run") -> str:
    return f"<!-- {mark} -->\n```console\n" + "".join(f"{line}\n" for line in commands) + "```\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (page("$ echo one two", "one   t…"), []),
        (page("$ echo one \\", "    two", "one two"), []),
        (page("$ false"), ["false: exit code 1"]),
        (page("$ false", mark="run, fails"), []),
        (page("$ true", mark="run, fails"), ["true: exit code 0"]),
        (page("$ echo one", "two"), ["echo one: it does not say ['two']"]),
        (page("$ printf 'b\\na\\n'", "a", "b"), ["printf 'b\\na\\n': it does not say ['b']"]),
        (page("$ exit 3"), ["exit 3: it has not ended"]),
        (page("$ false", mark="not run: it is shown"), []),
        (page("$ sleep 9 > /dev/null & ", "$ kill -9 %1"), []),
        ("<!-- file: a/b.txt -->\n```\nhello\n```\n" + page("$ cat a/b.txt", "hello"), []),
    ],
)
def test_a_block_is_run_as_its_mark_says(tmp_path, text, wrong):
    found = run(text, tmp_path, os.environ, 30)
    assert [one.partition(", but")[0].splitlines()[0] for one in found] == wrong


def test_a_block_without_a_mark_has_none():
    (block,) = blocks("text\n\n```python\npass\n```\n")
    assert (block.mark, block.language, block.text) == ("", "python", "pass\n")


def test_lines_are_looked_for_in_order():
    assert missing(("a", "…b"), "a\nxb\n") == []
    assert missing(("b", "a"), "a\nb\n") == ["a"]
