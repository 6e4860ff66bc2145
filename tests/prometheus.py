"""A real Prometheus that scrapes a job under test; Debian's package `prometheus` has it, and promtool."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from gluepot.servers.ports import free_port

SERVER = shutil.which("prometheus")
ANSWER_SECS = 10


@dataclass(frozen=True)
class Prometheus:
    """A running server.

    Args:
        url: its address.
    """

    url: str

    def query(self, expr: str) -> Sequence[float]:
        """The values of an expression at this moment; NaN is none."""
        answer = self._get("query", query=expr)
        assert answer["status"] == "success", answer
        values = (float(one["value"][1]) for one in answer["data"]["result"])
        return [value for value in values if value == value]  # noqa: PLR0124  all but NaN

    def alerts(self) -> Sequence[str]:
        """The alerts that fire or are about to, with their labels."""
        return [f"{one['state']} {one['labels']}" for one in self._get("alerts")["data"]["alerts"]]

    def judged(self) -> dict[str, str]:
        """The health of every alerting rule by its name: `ok` once it was worked out."""
        groups = self._get("rules", type="alert")["data"]["groups"]
        return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}

    def scrapes(self) -> bool:
        """Whether its target answers."""
        targets = self._get("targets")["data"]["activeTargets"]
        return bool(targets) and all(one["health"] == "up" for one in targets)

    def _get(self, what: str, **parameters: str) -> Any:
        with urlopen(f"{self.url}/api/v1/{what}?{urlencode(parameters)}", timeout=ANSWER_SECS) as answer:
            return json.load(answer)


@contextmanager
def prometheus_over(target: str, folder: Path, rules: Path) -> Iterator[Prometheus]:
    """Run a server that scrapes `host:port` every second, with some alert rules, for as long as the context lasts."""
    port = free_port(Random())
    jobs = [{"job_name": "gluepot", "honor_labels": True, "static_configs": [{"targets": [target]}]}]
    own = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config = folder / "prometheus.json"  # YAML's own subset
    config.write_text(json.dumps({"global": own, "rule_files": [str(rules)], "scrape_configs": jobs}))
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'series'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        yield Prometheus(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()
