"""Runs of data quality of a running service, with processes of their own, called by boto3, awswrangler and Airflow."""

import json
import os
import time

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.clients.environment import run_script, shell_environment
from tests.service_answers import client_of

SECS = 120
ORDERS = {"GlueTable": {"DatabaseName": "shop", "TableName": "orders"}}
CUSTOMERS = {"GlueTable": {"DatabaseName": "shop", "TableName": "customers"}}


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A folder with orders by day and their customers."""
    folder = tmp_path_factory.mktemp("lake")
    for day in ("mon", "tue"):
        (folder / "orders" / f"day={day}").mkdir(parents=True)
        ids = [None if day == "tue" and number == 3 else number for number in range(20)]
        orders = pa.table({"id": pa.array(ids, pa.int64()), "customer": [number % 5 for number in range(20)]})
        parquet.write_table(orders, folder / "orders" / f"day={day}" / "part.parquet")
    (folder / "customers").mkdir()
    parquet.write_table(pa.table({"id": list(range(4))}), folder / "customers" / "part.parquet")
    return folder


@pytest.fixture(scope="module")
def glue(serving, lake):
    client = client_of(serving, "glue")
    client.create_database(DatabaseInput={"Name": "shop"})
    for name, keys in (("orders", [{"Name": "day", "Type": "string"}]), ("customers", []), ("gone", [])):
        columns = [{"Name": "id", "Type": "bigint"}] + ([{"Name": "customer", "Type": "bigint"}] if keys else [])
        storage = {"Columns": columns, "Location": str(lake / name)}
        table = {"Name": name, "StorageDescriptor": storage, "PartitionKeys": keys}
        client.create_table(DatabaseName="shop", TableInput={**table, "Parameters": {"classification": "parquet"}})
    parts = [
        {"Values": [day], "StorageDescriptor": {"Location": str(lake / "orders" / f"day={day}")}}
        for day in ("mon", "tue")
    ]
    client.batch_create_partition(DatabaseName="shop", TableName="orders", PartitionInputList=parts)
    return client


def ended(get, run_id):
    deadline = time.monotonic() + SECS
    while time.monotonic() < deadline:
        found = get(RunId=run_id)
        if found["Status"] not in {"STARTING", "RUNNING", "STOPPING"}:
            return found
        time.sleep(0.2)
    raise AssertionError(f"the run {run_id} does not end")


def outcomes(result):
    return {one["Description"]: one["Result"] for one in result["RuleResults"]}


def test_rulesets_are_evaluated_on_a_part_of_a_table_and_beside_another_one(glue, serving, lake):
    glue.create_data_quality_ruleset(Name="whole", Ruleset='Rules = [ IsComplete "id", RowCount = 20 ]')
    known = 'Rules = [ ReferentialIntegrity "customer" "people.id" = 1.0 ]'
    glue.create_data_quality_ruleset(Name="known", Ruleset=known)
    source = {"GlueTable": {**ORDERS["GlueTable"], "AdditionalOptions": {"pushDownPredicate": "day = 'tue'"}}}
    run_id = glue.start_data_quality_ruleset_evaluation_run(
        DataSource=source,
        Role="any",
        RulesetNames=["whole", "known"],
        AdditionalDataSources={"people": CUSTOMERS},
        AdditionalRunOptions={"CloudWatchMetricsEnabled": True, "ResultsS3Prefix": str(lake / "results")},
    )["RunId"]
    done = ended(glue.get_data_quality_ruleset_evaluation_run, run_id)
    assert done["Status"] == "SUCCEEDED", done
    answer = glue.batch_get_data_quality_result(ResultIds=done["ResultIds"])
    whole, beside = answer["Results"]
    assert (whole["RulesetName"], whole["RulesetEvaluationRunId"], whole["Score"]) == ("whole", run_id, 0.5)
    assert outcomes(whole) == {'IsComplete "id"': "FAIL", "RowCount = 20": "PASS"}
    assert whole["DataSource"] == ORDERS
    [rule] = beside["RuleResults"]
    tuesday = f"'{lake}/orders/day=tue/*.parquet'"
    share = f"SELECT avg((customer IN (SELECT id FROM '{lake}/customers/*.parquet'))::int) FROM {tuesday}"
    assert list(rule["EvaluatedMetrics"].values()) == [duckdb.sql(share).fetchall()[0][0]]
    assert rule["Result"] == "FAIL"
    listed = glue.list_data_quality_results(Filter={"DataSource": ORDERS})["Results"]
    assert {one["ResultId"] for one in listed} == set(done["ResultIds"])
    metrics = client_of(serving, "cloudwatch").list_metrics(Namespace="Glue Data Quality")["Metrics"]
    assert len(metrics) == 4
    assert len(list((lake / "results").rglob("*.json"))) == 2


def test_a_run_on_a_table_without_files_says_what_was_found(glue):
    glue.create_data_quality_ruleset(Name="any rows", Ruleset='Rules = [ RowCount > 0, IsComplete "id" ]')
    run_id = glue.start_data_quality_ruleset_evaluation_run(
        DataSource={"GlueTable": {"DatabaseName": "shop", "TableName": "gone"}}, Role="any", RulesetNames=["any rows"]
    )["RunId"]
    done = ended(glue.get_data_quality_ruleset_evaluation_run, run_id)
    assert done["Status"] == "SUCCEEDED", done
    [result] = glue.batch_get_data_quality_result(ResultIds=done["ResultIds"])["Results"]
    assert outcomes(result) == {"RowCount > 0": "FAIL", 'IsComplete "id"': "FAIL"}


def test_a_run_that_is_cancelled_keeps_no_result(glue):
    glue.create_data_quality_ruleset(Name="cancelled", Ruleset="Rules = [ RowCount > 0 ]")
    run_id = glue.start_data_quality_ruleset_evaluation_run(
        DataSource=CUSTOMERS, Role="any", RulesetNames=["cancelled"]
    )["RunId"]
    glue.cancel_data_quality_ruleset_evaluation_run(RunId=run_id)
    assert ended(glue.get_data_quality_ruleset_evaluation_run, run_id)["Status"] == "STOPPED"
    assert glue.list_data_quality_results(Filter={"DataSource": CUSTOMERS})["Results"] == []


def test_awswrangler_keeps_and_evaluates_a_ruleset(glue, serving):
    rules, found = run_script("awswrangler_quality.py", "shop", "customers", environ=shell_environment(serving))
    assert [one["rule_type"] for one in rules] == ["IsUnique", "RowCount"]
    assert [(one["Description"], one["Result"]) for one in found] == [
        ('IsUnique "id"', "PASS"),
        ("RowCount = 4", "PASS"),
    ]


def test_operators_of_airflow_evaluate_and_recommend_rulesets(glue, serving, tmp_path):
    connection = {
        "conn_type": "aws",
        "login": serving.key.id,
        "password": serving.key.secret,
        "extra": {"endpoint_url": serving.url, "region_name": serving.region},
    }
    environ = {"AIRFLOW_CONN_AWS_DEFAULT": json.dumps(connection), "AIRFLOW_HOME": str(tmp_path / "airflow")}
    defined, changed, checked, proposed = run_script(
        "airflow_quality.py", "shop", "customers", environ={**os.environ, **environ}
    )
    assert (defined, changed) == ({"found": None}, {"found": None})
    assert "raised" in checked
    assert "failed" in checked["raised"].lower()
    assert "raised" not in proposed
    text = glue.get_data_quality_ruleset(Name="proposed")["Ruleset"]
    assert "RowCount between 2 and 8" in text
    run = glue.get_data_quality_rule_recommendation_run(RunId=proposed["found"])
    assert (run["RecommendedRuleset"], run["CreatedRulesetName"]) == (text, "proposed")
