"""The page of a check in a real browser, opened from a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from gluepot.cli.quality.page import page
from tests.e2e.browser import Visit, opened
from tests.quality_scene import history


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.fixture
def url(tmp_path) -> str:
    path = tmp_path / "report.html"
    path.write_text(page(*history()), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(245, 246, 248)"), ("dark", "rgb(13, 16, 20)")])
def test_the_page_is_accessible_offline_in_both_schemes(chrome, url, scheme, ground):
    one = Visit.of(chrome.new_context(color_scheme=scheme, offline=True), url)
    assert one.severe_findings() == []
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
    assert one.complaints == []


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_screen(chrome, url, width):
    assert not Visit.of(chrome.new_context(viewport={"width": width, "height": 800}), url).scrolls_sideways()
