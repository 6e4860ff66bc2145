"""Executes tasks of Airflow as its workers do, without a scheduler; prints what each returns, a line of JSON each.

Arguments: a script, the name of a bucket that Airflow uploads it to, and a folder to crawl into the database `web`. The
connection to AWS is in the environment.
"""

import contextlib
import json
import sys

from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from airflow.providers.amazon.aws.operators.glue_crawler import (
    GlueCrawlerCreateOperator,
    GlueCrawlerRunOperator,
    GlueCrawlerUpdateOperator,
)
from airflow.providers.amazon.aws.sensors.glue import GlueJobSensor
from airflow.providers.amazon.aws.sensors.glue_crawler import GlueCrawlerSensor

SCRIPT, BUCKET, FOLDER = sys.argv[1:]
SHELL = {"Command": {"Name": "pythonshell", "ScriptLocation": SCRIPT}}


class TaskInstance:
    """What the operator needs of the instance of a task: it keeps what the task pushes for others."""

    dag_id, task_id, run_id, try_number, map_index = "orders", "daily", "manual", 1, -1

    def __init__(self):
        self.stats_tags = {}
        self.pushed = {}

    def xcom_push(self, key, value, **_):
        self.pushed[key] = value


def task(job, day, **options):
    return GlueJobOperator(
        task_id=f"{job}-{day}",
        job_name=job,
        iam_role_name="etl",
        script_args={"--day": day},
        job_poll_interval=0.5,
        verbose=True,
        **options,
    )


def execute(operator):
    instance = TaskInstance()
    # Airflow's log goes to the standard output; that of this program has nothing but answers.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            found = operator.execute({"ti": instance})
        except Exception as error:  # noqa: BLE001  what a task raises is its answer
            return {"raised": f"{type(error).__name__}: {error}"}
    return {"found": found, **instance.pushed}


def tell(value):
    print(json.dumps(value), flush=True)


# A job whose script Airflow uploads, and a sensor that waits for its run.
run = execute(task("uploaded", "monday", script_location=SCRIPT, s3_bucket=BUCKET, wait_for_completion=False))
tell(run)
tell(
    execute(
        GlueJobSensor(
            task_id="wait", job_name="uploaded", run_id=run["found"], poke_interval=0.5, verbose=True, timeout=120
        )
    )
)

# A task that waits for its run itself; then the same with another definition and tags, and a run that fails.
tell(execute(task("shell", "tuesday", create_job_kwargs=dict(SHELL), num_of_dpus=1)))
changed = {**SHELL, "Timeout": 5, "Tags": {"team": "data"}}
tell(execute(task("shell", "nothing", create_job_kwargs=changed, num_of_dpus=1, update_config=True)))

# A task that somebody kills.
killed = task(
    "shell", "sleep", create_job_kwargs=dict(SHELL), num_of_dpus=1, wait_for_completion=False, stop_job_run_on_kill=True
)
tell(execute(killed))
with contextlib.redirect_stdout(sys.stderr):
    killed.on_kill()

# A crawler that is made, run and awaited; changed, started and watched by a sensor; and one that fails.
crawler = {
    "Name": "lake",
    "Role": "etl",
    "DatabaseName": "web",
    "Targets": {"S3Targets": [{"Path": FOLDER}]},
    "Tags": {"team": "data"},
}


def crawl(name, **options):
    return execute(GlueCrawlerRunOperator(task_id=f"crawl-{name}", crawler_name=name, poll_interval=1, **options))


tell(execute(GlueCrawlerCreateOperator(task_id="create", config=dict(crawler))))
tell(crawl("lake"))
later = {**crawler, "TablePrefix": "raw_", "Tags": {"team": "web"}}
tell(execute(GlueCrawlerUpdateOperator(task_id="update", config=later)))
tell(crawl("lake", wait_for_completion=False))
tell(execute(GlueCrawlerSensor(task_id="watch", crawler_name="lake", poke_interval=0.5, timeout=120)))
nowhere = {**crawler, "Name": "nowhere", "Targets": {"S3Targets": [{"Path": f"{FOLDER}/nowhere"}]}}
tell(execute(GlueCrawlerCreateOperator(task_id="create-nowhere", config=nowhere)))
tell(crawl("nowhere"))
