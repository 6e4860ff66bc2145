"""Tutorial and guides: each marked command runs and says what is shown, see tests/snippets.py."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.snippets import blocks, run

DOCS = REPOSITORY / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "guides").glob("*.md")), DOCS / "explanation/costs.md"]
RUNNABLE = {"console", "python", "json", "yaml", "shell", "bash", "ini"}
MARK = re.compile(r"run(, fails)?|file: \S+|not run: .+")
SECS = 600


@pytest.fixture
def environ(tmp_path) -> dict[str, str]:
    """The environment of a person who has nothing but Gluepot, with state of the test's own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "GLUEPOT_STATE": str(tmp_path / "state"), "COLUMNS": "200"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_block_says_what_happens_to_it(page):
    unmarked = [
        block.text.splitlines()[0]
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language in RUNNABLE and not MARK.fullmatch(block.mark)
    ]
    assert unmarked == []


@pytest.mark.long
def test_the_tutorial_does_what_it_says(kafka, tmp_path, environ):
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8").replace("127.0.0.1:9092", kafka)
    assert run(text, tmp_path, environ, SECS) == []


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_a_guide_does_what_it_says(page, kafka, tmp_path, environ):
    text = page.read_text(encoding="utf-8").replace("127.0.0.1:9092", kafka)
    assert run(text, tmp_path, environ, SECS) == []
