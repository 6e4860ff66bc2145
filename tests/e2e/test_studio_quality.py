"""Scripts as Glue Studio generates them with data quality nodes, run as jobs without a change but for their paths."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import duckdb
import pytest

from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, arguments, column, connections_file

STUDIO = SCRIPTS / "studio"
ORDERS = [
    {"id": 1, "customer": "ann", "amount": 10.5, "status": "new"},
    {"id": 2, "customer": "bob", "amount": -3.0, "status": "refund"},
    {"id": 3, "customer": "bob", "amount": -1.0, "status": "paid"},
    {"id": 4, "customer": "eve", "amount": 7.25, "status": "lost"},
    {"id": 4, "customer": "ann", "amount": 8.0, "status": "paid"},
    {"customer": "ann", "amount": 9.0, "status": "paid"},
]


@pytest.fixture
def bucket(tmp_path):
    """The folder that stands for the bucket of the scripts, with its input."""
    folder = tmp_path / "bucket"
    (folder / "orders").mkdir(parents=True)
    (folder / "orders" / "orders.json").write_text("".join(json.dumps(one) + "\n" for one in ORDERS))
    (folder / "customers").mkdir()
    (folder / "customers" / "customers.csv").write_text("name,city\nann,Oslo\nbob,Rome\n")
    return folder


@pytest.fixture
def run(launch, bucket, tmp_path):
    """Run a script with the bucket in the place of `s3://example`."""

    def run(name: str, *flags: str, parameters: Sequence[str] = (), env: dict[str, str] | None = None):
        script = tmp_path / name
        script.write_text((STUDIO / name).read_text().replace("s3://example", str(bucket)))
        given = arguments(JOB_NAME="orders", TempDir=tmp_path / "temp")
        env = {"GLUEPOT_STATE": str(tmp_path / "state"), **(env or {})}
        return launch.hosted("run", script, "--master", "local[2]", *flags, "--", *given, *parameters, env=env)

    return run


def kept_results(tmp_path: Path) -> list[tuple[str, dict]]:
    """Context and body of the results in the ledger's database, in order."""
    with closing(sqlite3.connect(tmp_path / "state" / "ledger.db")) as db:
        return [
            (context, json.loads(body))
            for context, body in db.execute("SELECT context, body FROM quality_results ORDER BY id")
        ]


def json_rows(folder: Path) -> list[dict]:
    files = [str(one) for one in folder.rglob("*") if one.is_file() and "_gluepot" not in one.parts]
    return [json.loads(line) for name in files for line in Path(name).read_text().splitlines()]


def test_the_default_check_before_a_target(run, bucket, tmp_path):
    job = run("default_check.py")
    assert job.exit_code() == 0, job.err
    assert column(bucket / "target", "order_id") == [1, 2, 3, 4, 4, None]
    ((context, body),) = kept_results(tmp_path)
    assert context == "EvaluateDataQuality_node1732400000000"
    (outcome,) = body["outcomes"]
    assert (outcome["rule"], outcome["passed"]) == ("ColumnCount > 0", True)
    assert outcome["metrics"] == {"Dataset.*.ColumnCount": 3.0}


def test_rows_that_fail_are_routed_to_another_target(run, bucket):
    job = run("row_routing.py")
    assert job.exit_code() == 0, job.err
    failed = json_rows(bucket / "quarantine")
    # Order 2 has a negative amount, but the rule leaves refunds out.
    assert sorted((one.get("id") or 0, one["amount"]) for one in failed) == [(0, 9.0), (3, -1.0), (4, 7.25), (4, 8.0)]
    assert {one["DataQualityEvaluationResult"] for one in failed} == {"Failed"}
    reasons = {one["amount"]: one["DataQualityRulesFail"] for one in failed}
    assert reasons[9.0] == ['IsComplete "id"', 'IsUnique "id"']
    assert reasons[-1.0] == ['ColumnValues "amount" > 0 where "status <> \'refund\'"']
    assert all(one["DataQualityRulesSkip"] == ["RowCount > 3"] for one in failed)
    with duckdb.connect() as db:
        good = db.execute(f"SELECT id, amount FROM read_parquet('{bucket}/target/*.parquet') ORDER BY id").fetchall()
    assert good == [(1, 10.5), (2, -3.0)]
    outcomes = {one["Rule"]: one for one in json_rows(bucket / "outcomes")}
    assert outcomes["RowCount > 3"]["Outcome"] == "Passed"
    assert outcomes['IsComplete "id"']["FailureReason"] == (
        "Value: 0.8333333333333334 does not meet the constraint requirement!"
    )
    assert len(outcomes) == 5
    (lines,) = [one.read_text().splitlines() for one in (bucket / "results").rglob("*.json")]
    assert json.loads(lines[0])["Rule"] == 'IsComplete "id"'


def test_a_job_fails_after_the_load_where_a_rule_over_two_data_sets_does(run, bucket, tmp_path):
    job = run("two_sources_stop.py")
    assert job.exit_code() != 0
    assert "The job failed due to failing DQ rules for node: Orders_node1" in job.err
    assert len(json_rows(bucket / "target")) == len(ORDERS)
    ((_, body),) = kept_results(tmp_path)
    assert [one["passed"] for one in body["outcomes"]] == [False, True, True, False]
    assert body["outcomes"][0]["metrics"] == {"Column.customers.ReferentialIntegrity": 5 / 6}


NUMBERS = [{"number": n} for n in range(-5, 94)] + [{"other": 1}]
BATCH_ROWS = 20


@pytest.fixture
def stream(run, kafka, bucket, tmp_path):
    """Run the stream script over its topic in batches of equal size, to its end or to a failpoint."""
    topic = new_topic_at(kafka, f"numbers-{tmp_path.name}", partitions=1)
    topic.send(json.dumps(one).encode() for one in NUMBERS)
    connections = str(connections_file(tmp_path, kafka, "events"))

    def start(*parameters: str, **env: str):
        return run(
            "stream_quarantine.py",
            "--until-caught-up",
            "--stream-option", f"topicName={topic.name}",
            "--stream-option", f"maxOffsetsPerTrigger={BATCH_ROWS}",
            parameters=parameters,
            env={"GLUEPOT_CONNECTIONS": connections, **env},
        )  # fmt: skip

    return start


def assert_each_batch_once(bucket: Path, tmp_path: Path) -> None:
    """Tables and history hold what a run without an accident leaves."""
    assert column(bucket / "target", "number") == list(range(94))
    assert column(bucket / "quarantine", "number") == [*range(-5, 0), None]
    outcomes = [body["outcomes"] for _, body in kept_results(tmp_path)]
    assert [one[2]["metrics"]["Dataset.*.RowCount"] for one in outcomes] == [BATCH_ROWS] * (len(NUMBERS) // BATCH_ROWS)
    # The first batch has no earlier value. The others have those of earlier batches, never of their own first attempt.
    most = [1_000_001.0, *[1_000_001.0 + 1_000 * BATCH_ROWS] * (len(outcomes) - 1)]
    assert [one[3]["evaluated"] for one in outcomes] == [f"RowCount between 0 and {number}" for number in most]


def test_a_stream_with_a_quarantine(stream, bucket, tmp_path):
    events = tmp_path / "events.jsonl"
    job = stream(
        "--enable-data-lineage", "true",
        OPENLINEAGE__TRANSPORT__TYPE="file",
        OPENLINEAGE__TRANSPORT__LOG_FILE_PATH=str(events),
        OPENLINEAGE__TRANSPORT__APPEND="true",
    )  # fmt: skip
    assert job.exit_code() == 0, job.err
    assert_each_batch_once(bucket, tmp_path)
    assert_lineage_has_each_check(events)


def assert_lineage_has_each_check(events: Path) -> None:
    """The events of batches have the outcomes and figures of their checks at their input."""
    told = [json.loads(line) for line in events.read_text().splitlines()]
    facets = [one["inputFacets"] for event in told if event["eventType"] == "RUNNING" for one in event["inputs"]]
    assert [one["dataQualityMetrics"]["rowCount"] for one in facets] == [BATCH_ROWS] * (len(NUMBERS) // BATCH_ROWS)
    assertions = [one["dataQualityAssertions"]["assertions"] for one in facets]
    assert [(one["assertion"], one.get("column")) for one in assertions[0]] == [
        ("IsComplete", "number"), ("ColumnValues", "number"), ("RowCount", None), ("RowCount", None),
    ]  # fmt: skip
    # Numbers below zero are in the first batch, and the last one has a record without a number.
    assert [[one["success"] for one in batch[:2]] for batch in (assertions[0], assertions[-1])] == [
        [True, False], [False, False],
    ]  # fmt: skip


def newest_batch(tmp_path: Path) -> int:
    """The batch that Spark has planned last."""
    return max(int(one.name) for one in (tmp_path / "temp/orders/checkpoint/offsets").glob("[0-9]*"))


# Each start first finishes the batch in which the start before it was killed, and is then killed in the next batch. So
# each kill has a batch of its own, and what a start does wrong after a kill is in the tables and the history at the end.
KILLS = (
    "publish.created@3",  # a write is visible that has measured the rows, and no result is kept
    "quality.judged@2",  # the same, with outcomes
    "quality.saved@2",  # the result is kept, and the batch is not committed
)


# With and without outcomes, a batch that has measured the rows and kept no result runs anew: one of the two is enough.
@pytest.mark.parametrize(
    "kills",
    [pytest.param((KILLS[0], KILLS[2]), id="twice"), pytest.param(KILLS, id="three times", marks=pytest.mark.long)],
)
def test_a_stream_that_is_killed_keeps_each_result_once(stream, bucket, tmp_path, kills):
    for number, point in enumerate(kills):
        killed = stream(GLUEPOT_FAILPOINT=point)
        assert killed.exit_code() == 137, killed.err
        assert newest_batch(tmp_path) == number + 1, f"{point} is in another batch than the kill before"
    again = stream()
    assert again.exit_code() == 0, again.err
    assert_each_batch_once(bucket, tmp_path)


@pytest.mark.long
def test_a_stream_that_is_killed_twenty_times_keeps_each_result_once(stream, bucket, tmp_path):
    chance = Random(int(os.environ.get("GLUEPOT_QUALITY_SEED", "1")))
    points = ["batch.entered", "batch.staged", "publish.intent", "publish.created", "quality.judged", "quality.saved",
              "settle.taking_back", "batch.done"]  # fmt: skip
    for _ in range(20):
        point = f"{chance.choice(points)}@{chance.randrange(1, 3)}"
        killed = stream(GLUEPOT_FAILPOINT=point)
        assert killed.exit_code() in {0, 137}, killed.err
    again = stream()
    assert again.exit_code() == 0, again.err
    assert_each_batch_once(bucket, tmp_path)
