"""The AWS command line, unmodified, against a running service: commands as tutorials on AWS Glue have them."""

import json
import os
import subprocess
import time

import pytest

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.clients.environment import BIN, aws_command_line, commands_of, shell_environment

SECS = 120

DEFINED = r"""
# 1. Create a Glue database to hold the crawled tables
aws glue create-database \
--database-input '{"Name":"raw_data","Description":"Raw landing zone tables"}'
# 2. Create an S3 crawler for a partitioned dataset
aws glue create-crawler \
--name raw-orders-crawler \
--role arn:aws:iam::123456789012:role/GlueServiceRole \
--database-name raw_data \
--targets '{"S3Targets":[{"Path":"LANDING","Exclusions":["**/_temporary/**","**/.spark-staging/**"]}]}' \
--recrawl-policy '{"RecrawlBehavior":"CRAWL_NEW_FOLDERS_ONLY"}' \
--schema-change-policy '{"UpdateBehavior":"UPDATE_IN_DATABASE","DeleteBehavior":"LOG"}' \
--configuration '{"Version":1.0,"CrawlerOutput":{"Partitions":{"AddOrUpdateBehavior":"InheritFromTable"}}}' \
--schedule 'cron(0 2 * * ? *)'
aws glue create-crawler --name curated-orders-crawler --role GlueServiceRole --database-name raw_data \
--table-prefix curated_ --targets '{"S3Targets":[{"Path":"LANDING"}]}'
# Create a Glue connection to RDS PostgreSQL
aws glue create-connection \
--connection-input '{
"Name": "rds-postgres-prod",
"ConnectionType": "JDBC",
"ConnectionProperties": {
"JDBC_CONNECTION_URL": "jdbc:postgresql://prod-db.cluster-xyz.us-east-1.rds.amazonaws.com:5432/orders",
"USERNAME": "glue_reader",
"PASSWORD": "{{resolve:secretsmanager:rds/glue-reader:SecretString:password}}"
},
"PhysicalConnectionRequirements": {
"SubnetId": "subnet-0abc1234",
"SecurityGroupIdList": ["sg-0def5678"],
"AvailabilityZone": "us-east-1a"
}
}'
# Create a JDBC crawler
aws glue create-crawler \
--name rds-orders-crawler \
--role arn:aws:iam::123456789012:role/GlueServiceRole \
--database-name raw_data \
--targets '{
"JdbcTargets":[{
"ConnectionName":"rds-postgres-prod",
"Path":"orders/%",
"Exclusions":["orders/tmp_%"]
}]
}'
# Enable bookmark when creating a job
aws glue create-job \
--name orders-transform \
--role arn:aws:iam::123456789012:role/GlueServiceRole \
--command '{"Name":"glueetl","ScriptLocation":"SCRIPT","PythonVersion":"3"}' \
--default-arguments '{
"--job-bookmark-option": "job-bookmark-enable",
"--enable-metrics": "",
"--enable-continuous-cloudwatch-log": "true",
"--TempDir": "s3://my-temp-bucket/glue-temp/"
}' \
--worker-type G.1X \
--number-of-workers 10 \
--glue-version "4.0"
# 1. Create the workflow container
aws glue create-workflow \
--name daily-orders-pipeline \
--description "Crawl raw orders, transform to Parquet, aggregate"
# 2. Add a start trigger (schedules the first crawler)
aws glue create-trigger \
--name start-raw-crawl \
--workflow-name daily-orders-pipeline \
--type SCHEDULED \
--schedule 'cron(0 3 * * ? *)' \
--actions '[{"CrawlerName":"raw-orders-crawler"}]' \
--start-on-creation
# 3. Trigger the transform job when the crawler succeeds
aws glue create-trigger \
--name after-raw-crawl \
--workflow-name daily-orders-pipeline \
--type CONDITIONAL \
--predicate '{
"Logical":"AND",
"Conditions":[{
"LogicalOperator":"EQUALS",
"CrawlerName":"raw-orders-crawler",
"CrawlState":"SUCCEEDED"
}]
}' \
--actions '[{"JobName":"orders-transform"}]'
# 4. Trigger the curated crawler after the job
aws glue create-trigger \
--name after-transform \
--workflow-name daily-orders-pipeline \
--type CONDITIONAL \
--predicate '{
"Logical":"AND",
"Conditions":[{
"LogicalOperator":"EQUALS",
"JobName":"orders-transform",
"State":"SUCCEEDED"
}]
}' \
--actions '[{"CrawlerName":"curated-orders-crawler"}]'
"""
"""Commands of a tutorial."""

REPLACES_ALL = r"""
# Or enable on an existing job
aws glue update-job \
--job-name orders-transform \
--job-update '{"DefaultArguments":{"--job-bookmark-option":"job-bookmark-enable"}}'
"""

UPDATED = r"""
# Pause bookmark: process all data once more, then re-enable bookmark
aws glue update-job \
--job-name orders-transform \
--job-update '{
"Role":"any",
"Command":{"Name":"glueetl","ScriptLocation":"SCRIPT"},
"DefaultArguments":{"--job-bookmark-option":"job-bookmark-pause"}
}'
"""

TRANSFORM = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
orders = glue_context.create_dynamic_frame.from_options(
    "s3", {"paths": ["ORDERS"]}, "json", transformation_ctx="orders"
)
print("new orders:", orders.count())
job.commit()
"""


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture(scope="module")
def aws(serving):
    with aws_command_line(shell_environment(serving)) as command_line:
        yield command_line


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """A job that reads two files of orders with a bookmark."""
    folder = tmp_path_factory.mktemp("orders")
    for number in range(2):
        (folder / f"{number}.json").write_text(json.dumps({"id": number}))
    path = tmp_path_factory.mktemp("scripts") / "orders_transform.py"
    path.write_text(TRANSFORM.replace("ORDERS", str(folder)))
    return path


@pytest.fixture(scope="module")
def defined(aws, script):
    """The command line, with all that the tutorial defines."""
    raw = script.with_name("raw-orders")
    for day in (1, 2):
        (raw / f"day={day}").mkdir(parents=True)
        (raw / f"day={day}" / "orders.csv").write_text("id,total\n1,2.5\n2,3.5\n")
    for command in commands_of(DEFINED.replace("SCRIPT", str(script)).replace("LANDING", str(raw))):
        aws.run(command)
    return aws


def until(aws, command, *values):
    """Repeat a command that prints a state until it is one of these, as scripts of a shell do; return it."""
    deadline = time.monotonic() + SECS
    while (state := aws(command)) not in values:
        assert time.monotonic() < deadline, f"{command}: {state}"
        time.sleep(1)  # each command costs a tenth of a second of processor time
    return state


def test_a_shell_finds_the_service(serving):
    ended = subprocess.run(
        [BIN / "aws", "sts", "get-caller-identity", "--query", "Account", "--output", "text"],
        env=shell_environment(serving),
        check=True,
        capture_output=True,
        text=True,
    )
    assert ended.stdout.strip() == "000000000000"


def test_what_a_tutorial_defines_is_there(defined):
    job = defined.json("aws glue get-job --job-name orders-transform")["Job"]
    assert (job["WorkerType"], job["NumberOfWorkers"], job["GlueVersion"]) == ("G.1X", 10, "4.0")
    assert job["DefaultArguments"]["--job-bookmark-option"] == "job-bookmark-enable"
    assert defined("aws glue get-database --name raw_data --query Database.Description --output text") == (
        "Raw landing zone tables"
    )
    connection = defined.json("aws glue get-connection --name rds-postgres-prod --hide-password")["Connection"]
    assert connection["PhysicalConnectionRequirements"]["SubnetId"] == "subnet-0abc1234"
    assert "PASSWORD" not in connection["ConnectionProperties"]
    triggers = defined.json("aws glue get-triggers --query 'Triggers[].[Name,Type,State,WorkflowName]'")
    assert triggers == [
        ["after-raw-crawl", "CONDITIONAL", "CREATED", "daily-orders-pipeline"],
        ["after-transform", "CONDITIONAL", "CREATED", "daily-orders-pipeline"],
        ["start-raw-crawl", "SCHEDULED", "ACTIVATED", "daily-orders-pipeline"],
    ]
    graph = defined.json("aws glue get-workflow --name daily-orders-pipeline --include-graph")["Workflow"]["Graph"]
    assert sorted(node["Type"] for node in graph["Nodes"]) == ["CRAWLER"] * 2 + ["JOB"] + ["TRIGGER"] * 3


def test_a_workflow_runs_and_its_bookmark_is_read_and_reset(defined):
    aws, job = defined, "--job-name orders-transform"
    nothing = "Continuation for job orders-transform not found"
    assert nothing in aws.refused(f"aws glue get-job-bookmark {job}")
    assert nothing in aws.refused(f"aws glue reset-job-bookmark {job}")

    for trigger in ("after-raw-crawl", "after-transform"):
        aws(f"aws glue start-trigger --name {trigger}")
    run = aws("aws glue start-workflow-run --name daily-orders-pipeline --query RunId --output text")
    of_run = f"--name daily-orders-pipeline --run-id {run}"
    assert "wr_12345" in aws.refused("aws glue get-workflow-run --name daily-orders-pipeline --run-id wr_12345")
    until(aws, f"aws glue get-workflow-run {of_run} --query Run.Status --output text", "COMPLETED")
    statistics = aws.json(f"aws glue get-workflow-run {of_run} --include-graph --query Run.Statistics")
    assert (statistics["SucceededActions"], statistics["TotalActions"]) == (3, 3), statistics

    assert until(aws, "aws glue get-crawler --name raw-orders-crawler --query Crawler.State --output text", "READY")
    tables = aws.json("aws glue get-tables --database-name raw_data --query TableList[].Name")
    assert tables == ["curated_raw_orders", "raw_orders"]
    partitions = "aws glue get-partitions --database-name raw_data --table-name raw_orders --query Partitions[].Values"
    assert sorted(aws.json(partitions)) == [["1"], ["2"]]
    (crawl,) = aws.json("aws glue list-crawls --crawler-name raw-orders-crawler")["Crawls"]
    assert crawl["State"] == "COMPLETED"

    (job_run,) = aws.json(f"aws glue get-job-runs {job}")["JobRuns"]
    assert (job_run["JobRunState"], job_run["TriggerName"]) == ("SUCCEEDED", "after-raw-crawl")
    stream = f"--log-group-name {job_run['LogGroupName']}/output --log-stream-name {job_run['Id']}"
    (event,) = aws.json(f"aws logs get-log-events {stream}")["events"]
    assert event["message"] == "new orders: 2"

    entry = aws.json(f"aws glue get-job-bookmark {job}")["JobBookmarkEntry"]
    assert (entry["RunId"], entry["Attempt"]) == (job_run["Id"], 0)
    (orders,) = json.loads(entry["JobBookmark"])["orders"]
    assert [len(names) for names, *_ in orders["folders"].values()] == [2]
    assert json.loads(aws.json(f"aws glue reset-job-bookmark {job}")["JobBookmarkEntry"]["JobBookmark"]) == {}
    assert json.loads(aws(f"aws glue get-job-bookmark {job} --query JobBookmarkEntry.JobBookmark --output text")) == {}
    aws(f"aws glue reset-job-bookmark {job} --run-id {job_run['Id']}")
    assert aws.json(f"aws glue get-job-bookmark {job}")["JobBookmarkEntry"]["JobBookmark"] == entry["JobBookmark"]


def test_a_run_is_started_awaited_stopped_and_its_log_followed(aws, script):
    waiting = script.with_name("waiting.py")
    waiting.write_text("import time\nprint('begun', flush=True)\nprint('on', flush=True)\ntime.sleep(60)\n")
    aws(
        f"aws glue create-job --name waiting --role any --command Name=pythonshell,ScriptLocation={waiting}"
        " --tags team=data --max-retries 0 --timeout 5 --execution-property MaxConcurrentRuns=1"
    )
    started = """aws glue start-job-run --job-name waiting --arguments '{"--day": "monday"}' --timeout 7"""
    run = aws(f"{started} --query JobRunId --output text")
    assert "ConcurrentRunsExceededException" in aws.refused(started)
    of_run = f"aws glue get-job-run --job-name waiting --run-id {run} --query"
    until(aws, f"{of_run} JobRun.JobRunState --output text", "RUNNING")
    messages = (
        f"aws logs filter-log-events --log-group-name /aws-glue/python-jobs/output --log-stream-names {run}"
        " --query 'events[].message'"
    )
    until(aws, f"{messages} --output text", "begun\ton")
    assert aws.json(f"{messages} --filter-pattern begun") == ["begun"]
    newest = (
        "aws logs describe-log-streams --log-group-name /aws-glue/python-jobs/output --order-by LastEventTime"
        " --descending --max-items 1 --query 'logStreams[].logStreamName'"
    )
    assert aws.json(newest) == [run]
    assert aws.json(f"aws glue batch-stop-job-run --job-name waiting --job-run-ids {run}")["Errors"] == []
    until(aws, f"{of_run} JobRun.JobRunState --output text", "STOPPED")
    assert aws.json(f"{of_run} JobRun.[Arguments,Timeout]") == [{"--day": "monday"}, 7]
    assert aws.json("aws glue list-jobs --tags team=data")["JobNames"] == ["waiting"]
    assert aws.json("aws glue get-tags --resource-arn arn:aws:glue:us-east-1:000000000000:job/waiting")["Tags"] == {
        "team": "data"
    }


def test_an_update_replaces_the_whole_definition(defined, script):
    assert "UpdateJob replaces the whole definition" in defined.refused(REPLACES_ALL)
    defined(UPDATED.replace("SCRIPT", str(script)))
    job = defined.json("aws glue get-job --job-name orders-transform")["Job"]
    assert job["DefaultArguments"] == {"--job-bookmark-option": "job-bookmark-pause"}
    assert ("WorkerType" in job, job["GlueVersion"]) == (False, "4.0")


def test_what_was_defined_is_deleted(defined):
    defined("aws glue stop-trigger --name start-raw-crawl")
    defined("aws glue delete-trigger --name start-raw-crawl")
    defined("aws glue delete-workflow --name daily-orders-pipeline")
    defined("aws glue delete-crawler --name raw-orders-crawler")
    defined("aws glue delete-job --job-name orders-transform")
    defined("aws glue delete-connection --connection-name rds-postgres-prod")
    defined("aws glue delete-database --name raw_data")
    assert "not found" in defined.refused("aws glue get-job --job-name orders-transform")
    assert aws_crawlers(defined) == ["curated-orders-crawler", "rds-orders-crawler"]
    assert "start-raw-crawl" not in defined.json("aws glue list-triggers")["TriggerNames"]


def aws_crawlers(aws):
    return aws.json("aws glue list-crawlers")["CrawlerNames"]


@pytest.mark.parametrize(
    "command",
    [
        "aws glue create-session --id s --role arn:aws:iam::1:role/Any --command Name=glueetl",
        "aws glue list-sessions --tags team=analytics",
    ],
)
def test_what_is_not_there_yet_says_so(aws, command):
    assert "docs/service.md lists the supported operations" in aws.refused(command)
