from __future__ import annotations

import pytest

from gluepot.core.errors import ConfigError
from scripts.site import unlisted, with_folders, with_links_of_the_site, with_own_worker, with_wide_indents

FILES = {"docs/a.md", "docs/glue/b.md", "docs/glue/README.md", "README.md", "gluepot/x.py"}
CONFIG = 'project = { nav = [{ "A" = "a.md" }, { "Glue" = "glue/" }] }'


@pytest.mark.parametrize(
    ("name", "link", "moved"),
    [
        ("docs/a.md", "glue/b.md#there", "glue/b.md#there"),
        ("docs/a.md", "../README.md", "project/overview.md"),
        ("README.md", "docs/a.md", "../a.md"),
        ("README.md", "docs/glue", "../glue/README.md"),
        ("docs/glue/b.md", "../../gluepot/x.py", "https://github.com/gluepot/gluepot/blob/main/gluepot/x.py"),
        ("docs/a.md", "https://spark.apache.org", "https://spark.apache.org"),
        ("docs/a.md", "#below", "#below"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site_or_to_the_repository(name, link, moved):
    assert with_links_of_the_site(f"[x]({link})", name, FILES.__contains__) == f"[x]({moved})"


def test_code_is_left_alone():
    code = "`[x](../README.md)`\n\n```\n[x](../README.md)\n```\n"
    assert with_links_of_the_site(code, "docs/a.md", FILES.__contains__) == code


def test_a_file_that_is_no_page_is_refused():
    with pytest.raises(ConfigError, match=r"gluepot/x\.py is no page of the site"):
        with_links_of_the_site("", "gluepot/x.py", FILES.__contains__)


def test_a_folder_of_the_navigation_stands_for_its_pages():
    config = with_folders(CONFIG, lambda folder: [f"{folder}b.md"])
    assert unlisted(config, ["a.md", "glue/b.md", "c.md"]) == ["c.md"]


def test_the_script_for_searches_of_files_is_our_own_copy():
    html = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
    assert with_own_worker(html, "glue/b.html") == (
        '<script src="../assets/javascripts/iframe-worker-1.0.4.js"></script>'
    )


def test_a_page_that_loads_from_elsewhere_is_refused():
    with pytest.raises(ConfigError, match=r"a\.html loads .*example\.org"):
        with_own_worker('<script src="https://example.org/a.js">', "a.html")


def test_what_belongs_to_an_item_is_indented_by_four_spaces():
    text = "- a\n  b\n  - c\n\n1. d\n\n   ```\n   code\n   ```\n\n  text\n```\n  code\n```\n"
    wide = "- a\n    b\n    - c\n\n1. d\n\n    ```\n    code\n    ```\n\n  text\n```\n  code\n```\n"
    assert with_wide_indents(text) == wide
