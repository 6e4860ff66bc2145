"""Writes what is made of the code, documents and boards: `python -m scripts.documents`."""

from __future__ import annotations

import json
from pathlib import Path

from gluepot.job.project import schema
from gluepot.streaming.observe.metric_names import document
from scripts import reference
from scripts.dashboards import BOARDS, FOLDER, rendered
from tests import mistakes

DOCUMENTS = Path(__file__).parent.parent / "docs"
METRICS = DOCUMENTS / "metrics.md"
SCHEMA = DOCUMENTS / "gluepot.schema.json"
MISTAKES = DOCUMENTS / "mistakes.md"

if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    METRICS.write_text(document(), encoding="utf-8")
    for board in BOARDS:
        (FOLDER / f"{board.uid}.json").write_text(rendered(board), encoding="utf-8")
    for page, text in reference.pages().items():
        page.write_text(text, encoding="utf-8")
    MISTAKES.write_text(mistakes.document(), encoding="utf-8")
