"""Takes the pictures of the ops page in docs/images: `python -m tests.ops_screenshots`. The batches are made up."""

from __future__ import annotations

import math
import random
import tempfile
from pathlib import Path

from gluepot.core.clock import FakeClock
from gluepot.ops.pages import application
from gluepot.ops.server import serve
from tests.e2e.browser import opened
from tests.ops_scene import EVIL, WINDOW_SECS, Scene, advice, column

IMAGES = Path(__file__).parents[1] / "docs/images"
BEGAN_EPOCH = 1_767_261_600.0
BATCHES = 90
REJECTS_IN, SLOW, COLUMNS_IN = 70, 57, {40: [column("coupon", "string")], 66: [column("price", "double", "int64")]}
SIZE = {"width": 1280, "height": 1000}


def play(scene: Scene) -> None:
    """Let a quarter of an hour's batches happen: one of them slow, one with rejects, two with other columns."""
    chance = random.Random(4)
    scene.begin()
    for n in range(BATCHES):
        scene.clock.sleep(WINDOW_SECS)
        rows = int(10_000 + 2_500 * math.sin(n / 9) + chance.uniform(-600, 600))
        took_secs = 1.6 + rows / 9_000 + chance.uniform(-0.2, 0.3) + (3.1 if n == SLOW else 0)
        catching_up = 9_000 * max(0.0, 1 - (n - SLOW) / 5) if n >= SLOW else 0
        lag = int(max(0, 140 + 60 * math.sin(n / 4) + chance.uniform(-40, 40) + catching_up))
        log = {"level": "info", "event": "batch_done", "query": "clicks", "batch": n, "rows": rows, "lag": lag}
        scene.page.log.take({"ts": f"2026-01-01T10:{n * 5 // 60:02}:{n * 5 % 60:02}Z", **log})
        if n == REJECTS_IN:
            scene.rejects(n, EVIL, b'{"id": 8,, "price": 1}')
            continue
        began_epoch = scene.clock.epoch() - took_secs
        scene.batch(
            n,
            rows_in=rows,
            rows_out=rows,
            bytes_in=rows * 320,
            bytes_out=rows * 41,
            started_epoch=began_epoch,
            duration_secs=took_secs,
            previous_started_epoch=began_epoch - WINDOW_SECS,
            lag_records={"clicks-0": lag * 2 // 3, "clicks-1": lag // 3},
            column_changes=COLUMNS_IN.get(n, ()),
        )
    scene.advice["clicks"] = advice(scene.clock.epoch())
    scene.clock.sleep(1.4)


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder), FakeClock(BEGAN_EPOCH))
        play(scene)
        server = serve(application(scene.job))
        with opened() as browser:
            for scheme in ("light", "dark"):
                page = browser.new_page(color_scheme=scheme, viewport=SIZE)
                page.goto(server.page_url)
                page.locator("#rejects .records").wait_for()
                page.mouse.move(0, 0)
                page.screenshot(path=IMAGES / f"ops-page-{scheme}.png")
            page = browser.new_page(viewport={"width": 375, "height": 812})
            page.goto(server.page_url)
            page.locator("#rejects .records").wait_for()
            page.screenshot(path=IMAGES / "ops-page-narrow.png")
        server.stop()


if __name__ == "__main__":
    main()
