"""The page about sensitive data is what the code finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.sensitive_data import document


@pytest.mark.long
def test_the_page_is_that_of_the_code():
    written = (Path(__file__).parents[3] / "docs" / "sensitive-data.md").read_text(encoding="utf-8")

    assert written == document(), "run python -m scripts.sensitive_data > docs/sensitive-data.md"
