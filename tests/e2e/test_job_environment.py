"""One job with everything Glue and Gluepot can be told, seen from inside and from outside while it runs."""

from __future__ import annotations

import json
import signal
import zipfile
from dataclasses import dataclass

import pytest

from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, Job, arguments, column, launcher
from tests.scrape import Scrape, scrape

PRODUCED = 500
BROKEN = 3


@dataclass(frozen=True)
class Seen:
    """What became known of the job; `metrics` was scraped while it ran."""

    job: Job
    printed: dict[str, object]
    metrics: Scrape
    exit_code: int

    def metric(self, name: str, **labels: str) -> float:
        return self.metrics.value(name, job="everything", query="numbers", **labels)


@pytest.fixture(scope="module")
def seen(kafka, tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    with zipfile.ZipFile(folder / "extra.zip", "w") as extra:
        extra.writestr("from_zip.py", 'WORD = "zipped"\n')
    topic = new_topic_at(kafka)
    topic.send_numbers(range(PRODUCED - BROKEN))
    topic.send([b"{broken"] * BROKEN)
    with launcher(folder) as launch:
        job = launch.gluepot(
            "run", SCRIPTS / "echo_environment.py", "--metrics-port", "0", "--metrics-by-partition", "--master", "local[2]", "--",
            *arguments(JOB_NAME="everything", TempDir=folder / "temp", output_path=folder / "table"),
            *arguments(bootstrap=kafka, topic=topic.name, conf="spark.sql.shuffle.partitions=7"),
            *("--extra-py-files", folder / "extra.zip", "--enable-metrics", "true", "--enable-job-insights", "true"),
        )  # fmt: skip
        job.wait_until(lambda: sum(line["rows"] for line in job.said("batch_done")) >= PRODUCED, "every record")
        metrics = scrape(job.said("metrics")[0]["url"])
        job.signal(signal.SIGTERM)
        code = job.exit_code()
    assert column(folder / "table", "n") == list(range(PRODUCED - BROKEN))
    return Seen(job, json.loads(job.out.splitlines()[0]), metrics, code)


def test_the_job_ends_with_0(seen):
    assert seen.exit_code == 0


def test_the_job_name_reaches_script_and_spark(seen):
    assert (seen.printed["job_name"], seen.printed["app_name"]) == ("everything", "everything")


def test_glues_own_parameters_stay_in_the_scripts_arguments(seen):
    assert {"--JOB_NAME", "--JOB_RUN_ID", "--conf", "--extra-py-files", "--enable-metrics"} <= set(seen.printed["argv"])


def test_conf_reaches_spark_over_our_defaults(seen):
    assert seen.printed["shuffle_partitions"] == "7"
    assert seen.printed["time_zone"] == "UTC"


def test_extra_py_files_can_be_imported_in_driver_and_worker(seen):
    assert (seen.printed["from_zip"], seen.printed["from_zip_in_a_worker"]) == ("zipped", "zipped")


def test_a_module_beside_the_script_can_be_imported(seen):
    assert seen.printed["neighbour"] == "next door"


def test_a_parameter_that_means_nothing_here_is_named_with_the_reason(seen):
    (line,) = seen.job.said("parameter_ignored")
    assert (line["parameter"], line["reason"]) == ("enable-job-insights", "logs go to stderr")


def test_log_lines_carry_job_run_query_and_batch(seen):
    done = seen.job.said("batch_done")
    assert {line["job"] for line in seen.job.log()} == {"everything"}
    assert len({line["run_id"] for line in seen.job.log()}) == 1
    assert {line["query"] for line in done} == {"numbers"}
    assert [line["batch"] for line in done] == list(range(len(done)))


def test_the_scripts_own_log_lines_carry_query_and_batch_too(seen):
    line = seen.job.said("hello from the script")[0]
    assert (line["logger"], line["query"], line["batch"]) == ("script", "numbers", 0)


def test_stderr_holds_nothing_but_log_lines(seen):
    assert seen.job.sentences() == []


def test_rows_in_is_what_was_produced_and_rows_out_what_was_good(seen):
    assert seen.metric("rows_in_total") == PRODUCED
    assert seen.metric("rows_out_total") == PRODUCED - BROKEN
    assert seen.metric("rows_rejected_total", reason="malformed_json") == BROKEN


def test_lag_is_shown_for_each_partition(seen):
    partitions = seen.metrics.by("partition", "lag_records")
    assert {partition.rpartition("-")[2] for partition in partitions} == {"0", "1"}
    assert set(partitions.values()) == {0}


@pytest.mark.parametrize("phase", ["fetch", "parse", "write"])
def test_batch_time_is_shown_by_phase(seen, phase):
    assert seen.metric("batch_phase_seconds_sum", phase=phase) > 0


@pytest.mark.parametrize(
    "name",
    ["input_rate", "process_rate", "batch_duration_seconds_sum", "bytes_in_total", "bytes_out_total", "files_written_total",
     "retries_total", "failures_total", "last_commit_timestamp_seconds", "window_seconds",
     "lag_total_records", "lag_worst_records", "lag_worst_seconds", "last_commit_age_seconds", "running_batch_seconds"],
)  # fmt: skip
def test_a_metric_has_job_and_query_as_labels(seen, name):
    assert seen.metric(name) >= 0


@pytest.mark.parametrize(
    "name", ["batches_total", "record_latency_seconds_count", "file_size_bytes_count", "lease_held"]
)
def test_a_committed_batch_is_counted(seen, name):
    assert seen.metric(name) >= 1


@pytest.mark.parametrize("role", ["driver", "jvm", "workers"])
def test_memory_is_shown_by_role(seen, role):
    assert seen.metrics.value("resident_memory_bytes", job="everything", role=role) > 1 << 20


def test_a_script_gets_the_memory_that_its_own_conf_asks_for(tmp_path):
    with launcher(tmp_path) as launch:
        job = launch.gluepot("run", SCRIPTS / "own_memory.py", "--master", "local[2]")
        assert job.exit_code() == 0
    memory_bytes, name = job.out.split()
    # The serial collector of the tests' JVMs does not count one of its survivor spaces.
    assert 0.95 < int(memory_bytes) / (600 << 20) <= 1
    assert name == "own"
