"""What can be said of the documents without reading them: made pages, lines, links, and references of the code."""

from __future__ import annotations

import re

from benchmarks import page
from gluepot.core.glue_prices import PRICE_SOURCE, USD_PER_DPU_HOUR
from gluepot.streaming.advisor.glue_cost import glue_cost, worker_type
from gluepot.streaming.observe.metric_names import document
from scripts.documents import METRICS, MISTAKES
from tests import documents, mistakes
from tests.repository import REPOSITORY, listed

COLUMNS = 100

REFERENCE = re.compile(r"docs/glue[\s#]+(\d+(?:\.\d+)*(?:,\s+\d+(?:\.\d+)*)*)")


def files(*patterns):
    """The files of the repository with names like these."""
    return [path for name in listed(*patterns) if (path := REPOSITORY / name).is_file()]


def test_the_page_of_metrics_is_that_of_the_code():
    assert METRICS.read_text(encoding="utf-8") == document(), "run `python -m scripts.documents`"


def test_the_page_of_benchmarks_is_that_of_their_results():
    made = page.document([*(REPOSITORY / "benchmarks/results").glob("*.json")])
    assert (REPOSITORY / "docs/performance.md").read_text() == made, (
        "run `python -m benchmarks.page`, see its docstring"
    )


def test_every_reference_to_a_fact_about_glue_leads_to_a_section():
    pages = (REPOSITORY / "docs/glue").glob("*.md")
    sections = {
        number for path in pages for number in re.findall(r"^#+ (\d+(?:\.\d+)*)\.? ", path.read_text(), re.MULTILINE)
    }
    references = [
        (path.relative_to(REPOSITORY), number)
        for path in files("*.py", "*.md", "*.toml", "*.conf")
        for numbers in REFERENCE.findall(path.read_text(encoding="utf-8"))
        for number in re.split(r",\s+", numbers)
    ]
    assert references
    assert [one for one in references if one[1] not in sections] == []


def test_the_page_of_mistakes_is_that_of_the_tests():
    assert MISTAKES.read_text(encoding="utf-8") == mistakes.document(), "run `python -m scripts.documents`"


FIRST_HOUR = REPOSITORY / "docs" / "first-hour.md"


def test_no_line_of_a_document_is_wider_than_a_page():
    lines = [
        (f"{path.relative_to(REPOSITORY)}:{number}", len(line))
        for path in files("*.md")
        if path not in {MISTAKES, FIRST_HOUR}  # rows of a table, and output as it was printed, cannot be broken
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    assert [one for one in lines if one[1] > COLUMNS] == []


def test_the_architecture_is_read_in_one_sitting():
    assert len((REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_every_link_within_the_repository_leads_somewhere():
    links = [
        (path, link)
        for path in files("*.md")
        for link in documents.links(path.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:", link)
    ]
    assert links
    assert [(str(path), link) for path, link in links if not documents.leads_somewhere(path, link)] == []


def test_the_costs_on_aws_are_those_that_the_advisor_computes():
    text = (REPOSITORY / "docs/explanation/costs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (G\.\w+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", text, re.MULTILINE)
    computed = [(kind, slots, glue_cost(int(slots), worker_type(kind))) for kind, slots, *_ in rows]
    assert rows
    assert rows == [(kind, slots, str(one.workers), f"{one.usd_per_day:.2f}") for kind, slots, one in computed]
    assert f"{USD_PER_DPU_HOUR} USD an hour ({PRICE_SOURCE.partition(',')[0]}" in text
