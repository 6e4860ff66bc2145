"""The report as a page."""

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from gluepot.bench.conclude import Goal
from gluepot.bench.page import as_html, batch_time_plot
from tests.unit.bench.made import LIMITS, all_runs, linear, report


@pytest.fixture(scope="module")
def done():
    return all_runs(linear(0.3, 30_000), LIMITS)


class Texts(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_a_page_says_what_the_terminal_says_and_loads_nothing(done):
    page = Texts(as_html(report(done, Goal(10, 20_000))))
    text = " ".join("".join(page.texts).split())
    assert "For 20,000 rows/s within 10 s: 1 core (measured)" in text
    assert 'connection_options: "maxOffsetsPerTrigger": "' in text
    assert "it holds" in text
    assert not [tag for tag, given in page.tags if tag in {"script", "link", "img"} or "src" in given]
    assert [tag for tag, _ in page.tags].count("tr") == 1 + len(done)


def test_every_run_is_a_point(done):
    drawn = ET.fromstring(batch_time_plot(report(done, Goal(10, 20_000))))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == len(done)
