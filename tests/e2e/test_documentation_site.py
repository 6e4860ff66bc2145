"""The documentation site, built from this checkout and read from files, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts.site import build
from tests.e2e.browser import AXE, Visit, opened

PAGES = [
    ("index.html", "light"),
    ("tutorial.html", "dark"),
    ("mistakes.html", "light"),
    ("guides/production.html", "dark"),
    ("reference/environment.html", "light"),
]


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site. Building fails if a link leads nowhere or the builder warns."""
    return build()


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.mark.parametrize(("page", "scheme"), PAGES)
def test_axe_finds_nothing_and_nothing_is_loaded_from_elsewhere(chrome, site, page, scheme):
    one = Visit.of(chrome.new_context(color_scheme=scheme, offline=True), (site / page).as_uri())
    assert one.complaints == []
    one.page.evaluate(AXE.read_text())
    found = one.page.evaluate("axe.run({preload: false})")["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


def test_the_search_works_without_a_network(chrome, site):
    one = Visit.of(chrome.new_context(offline=True), (site / "index.html").as_uri())
    one.page.get_by_role("button", name="Search").click()
    one.page.get_by_role("combobox").fill("quarantine")
    one.page.get_by_role("option").filter(has_text="quarantine").first.click()
    one.page.wait_for_url("**/data-quality.html?h=quarantine*")
    assert [said for said in one.complaints if not said.startswith("info:")] == []
