"""Writes the documents that are made of the code: `python -m scripts.documents`."""

from __future__ import annotations

from pathlib import Path

from streaming.metric_names import document

METRICS = Path(__file__).parent.parent / "docs" / "metrics.md"

if __name__ == "__main__":
    METRICS.write_text(document(), encoding="utf-8")
