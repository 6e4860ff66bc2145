"""Every panel of every board has data when a real Prometheus scrapes a real job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from urllib.error import URLError

import pytest

from gluepot.produce.click_events import Event, events
from gluepot.servers.ports import free_port
from tests.e2e.conftest import Topic, new_topic_at
from tests.e2e.jobs import EXAMPLES, arguments, connections_file, launcher, wait_until
from tests.prometheus import SERVER, prometheus_over

REPOSITORY = Path(__file__).parents[2]
BOARDS = sorted((REPOSITORY / "deploy/grafana/dashboards").glob("*.json"))
CHOSEN = {"$job": "clicks", "$query": ".+", "$stream": ".+", "$sla": "60", "$__rate_interval": "20s", "$__range": "2m"}
SENT_AT_A_TIME = 2000
TARGET = "        # Script generated for node Amazon S3\n"
# Glue Studio puts such a check before a target.
CHECK = """\
        EvaluateDataQuality().process_rows(
            frame=DropFields_node1700000000003,
            ruleset="Rules = [ ColumnCount > 0 ]",
            publishing_options={"dataQualityEvaluationContext": "clicks"},
        )
"""

pytestmark = pytest.mark.skipif(SERVER is None, reason="prometheus is not on PATH; it is a Debian package")


def as_chosen(expr: str) -> str:
    """An expression with a value for each variable, as Grafana sends it."""
    return re.sub(r"\$\w+", lambda found: CHOSEN[found[0]], expr)


def queries(board: Path) -> dict[str, list[str]]:
    """The queries of a board by the title of their panel."""
    panels = json.loads(board.read_text(encoding="utf-8"))["panels"]
    return {
        f"{board.stem}: {panel['title']}": [as_chosen(target["expr"]) for target in panel["targets"]]
        for panel in panels
        if panel["type"] != "row"
    }


def marks(board: Path) -> list[str]:
    return [as_chosen(event["expr"]) for event in json.loads(board.read_text())["annotations"]["list"]]


def send_next(topic: Topic, source: Iterator[Event]) -> None:
    topic.send(event.payload for event in islice(source, SENT_AT_A_TIME))


def checked_clickstream(folder: Path) -> Path:
    """The example with a check of data quality before its target."""
    script = folder / "checked_clickstream.py"
    text = (EXAMPLES / "clickstream.py").read_text()
    assert text.count(TARGET) == 1
    text = text.replace(TARGET, CHECK + TARGET)
    script.write_text(f"from awsgluedq.transforms import EvaluateDataQuality\n{text}")
    return script


@pytest.fixture
def prometheus(own_kafka, tmp_path):
    topic = new_topic_at(own_kafka.bootstrap, "clicks")
    source = events(100 * SENT_AT_A_TIME)
    port = free_port(Random())
    with launcher(tmp_path) as launch:
        launch.gluepot(
            "run",
            checked_clickstream(tmp_path),
            f"--metrics-port={port}",
            "--metrics-by-partition",
            f"--advice-log={tmp_path / 'advice.jsonl'}",
            "--master=local[2]",
            f"--connections={connections_file(tmp_path, own_kafka.bootstrap)}",
            "--",
            *arguments(JOB_NAME="clicks", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
        )
        with prometheus_over(f"127.0.0.1:{port}", tmp_path, REPOSITORY / "deploy/prometheus/alerts.yaml") as server:
            yield server, partial(send_next, topic, source)


def test_every_query_of_every_panel_has_data(prometheus):
    server, send = prometheus
    missing = {(title, expr) for board in BOARDS for title, exprs in queries(board).items() for expr in exprs}
    assert len(missing) > 50

    def all_seen() -> bool:
        send()
        try:
            missing.difference_update([one for one in missing if server.query(one[1])])
        except URLError:  # it is still starting
            return False
        return not missing

    try:
        wait_until(all_seen, "data for every panel")
    except AssertionError:
        pytest.fail("\n".join(f"{title} has no data: {expr}" for title, expr in sorted(missing)))
    for expr in {expr for board in BOARDS for expr in marks(board)}:
        server.query(expr)  # an event that did not happen has no value, but must be a query
