"""Events as OpenLineage's own classes check them and its serializer writes them."""

from __future__ import annotations

import json
from uuid import UUID

import pyarrow as pa
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde

from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account, Reading, Writes
from gluepot.engine.write_totals import Output
from gluepot.job.lineage.events import Names, Versions, event

VERSIONS = Versions("0.1.0", "4.1.0")
JOB = Names("gluepot", "clicks", "jr_7f3a91c2")
QUERY = Names("gluepot", "clicks", "jr_7f3a91c2", "from_data_frame")
TOPIC = Dataset("kafka://broker:9092", "clicks")
TABLE = Dataset("s3://lake", "clicks")


def written(**columns: pa.DataType) -> bytes:
    return pa.schema(columns).serialize().to_pybytes()


def plain(state: RunState, names: Names, **more: object) -> dict:
    return json.loads(Serde.to_json(event(state, names, VERSIONS, 1_000.0, **more)))


def test_a_run_has_an_id_that_follows_from_gluepots():
    assert plain(RunState.START, JOB)["run"]["runId"] == plain(RunState.COMPLETE, JOB)["run"]["runId"] == JOB.id
    assert UUID(JOB.id) != UUID(QUERY.id)
    assert Names("gluepot", "clicks", "jr_other").id != JOB.id


def test_a_run_names_job_time_and_engine():
    start = plain(RunState.START, JOB)
    assert (start["eventType"], start["eventTime"]) == ("START", "1970-01-01T00:16:40+00:00")
    assert (start["job"]["namespace"], start["job"]["name"]) == ("gluepot", "clicks")
    assert start["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert start["run"]["facets"]["processing_engine"]["version"] == "4.1.0"
    assert "parent" not in start["run"]["facets"]


def test_a_query_is_a_streaming_job_below_its_job():
    running = plain(RunState.RUNNING, QUERY)
    assert running["job"]["name"] == "clicks.from_data_frame"
    assert running["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    parent = running["run"]["facets"]["parent"]
    assert (parent["run"]["runId"], parent["job"]["name"]) == (JOB.id, "clicks")


def test_the_account_of_records_is_a_facet_of_the_run():
    account = Account({"orders": Reading(4, 2, 1, 1)}, Writes(2, 2))
    facet = plain(RunState.COMPLETE, JOB, account=account)["run"]["facets"]["gluepot_records"]

    assert facet["sources"] == {"orders": {"read": 4, "delivered": 2, "rejected": 1, "left_out": 1}}
    assert facet["writes"] == {"arrived": 2, "written": 2, "refused": 0, "skipped": 0}


def test_inputs_are_named_once_each():
    inputs = plain(RunState.RUNNING, QUERY, inputs=[TOPIC, TABLE, TOPIC])["inputs"]
    assert [(one["namespace"], one["name"]) for one in inputs] == [
        ("kafka://broker:9092", "clicks"),
        ("s3://lake", "clicks"),
    ]


def test_writes_to_one_table_are_one_output_with_sums_and_all_columns():
    first = Output(TABLE, 10, 1_000, 2, (written(id=pa.int64()),))
    second = Output(TABLE, 5, 500, 1, (written(id=pa.int64(), day=pa.string()),))
    (output,) = plain(RunState.RUNNING, QUERY, outputs=[first, second])["outputs"]
    assert (output["namespace"], output["name"]) == ("s3://lake", "clicks")
    statistics = output["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["size"], statistics["fileCount"]) == (15, 1_500, 3)
    fields = output["facets"]["schema"]["fields"]
    assert [(one["name"], one["type"]) for one in fields] == [("id", "int64"), ("day", "string")]


def test_a_failure_says_why():
    failed = plain(RunState.FAIL, JOB, error="ValueError: no")
    assert failed["run"]["facets"]["errorMessage"]["message"] == "ValueError: no"
