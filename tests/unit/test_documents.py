from __future__ import annotations

from gluepot.streaming.observe.metric_names import document
from scripts.documents import METRICS


def test_the_page_of_metrics_is_that_of_the_code():
    assert METRICS.read_text(encoding="utf-8") == document(), "run `python -m scripts.documents`"
