"""A headless Chromium of the machine, and what it says about a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

AXE = Path(__file__).parent / "vendor/axe-core-4.14.1.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SEVERE = frozenset({"serious", "critical"})


def chromium(playwright: Playwright) -> str:
    """Return a Chromium of the machine or of Playwright; skips where there is none."""
    installed = (shutil.which(name) for name in NAMES)
    own = Path(playwright.chromium.executable_path)
    found = next(filter(None, installed), str(own) if own.exists() else None)
    if found is None:
        pytest.skip("No Chromium is here; `make packages` installs Debian's, `playwright install chromium` another.")
    return found


@contextmanager
def opened() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to start for root, as which containers run.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=flags)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page in a context of its own, and all that went wrong there.

    Args:
        page: the page.
        complaints: errors of scripts, what the console was told, requests to other hosts.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, context: BrowserContext, url: str) -> Visit:
        visit = cls(context.new_page())
        page, host = visit.page, urlsplit(url).netloc
        page.on("console", lambda said: visit.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        page.on(
            "request",
            lambda sent: None if urlsplit(sent.url).netloc == host else visit.complaints.append(f"asked {sent.url}"),
        )
        page.goto(url)
        return visit

    def severe_findings(self) -> list[tuple[str, Any]]:
        """What axe-core calls serious or critical: rule and elements."""
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run()")["violations"]
        return [(one["id"], [node["target"] for node in one["nodes"]]) for one in found if one["impact"] in SEVERE]

    def scrolls_sideways(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))
