"""A run's reports of Glue's metrics: what is in them, and that they cannot harm the run."""

import json

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.datasets import Dataset
from gluepot.core.job_parameters import JobParameters
from gluepot.engine.account import Account, Reading, Writes
from gluepot.engine.write_totals import Output
from gluepot.job.glue_metrics.figures import Counts, Gauges, Memory, Names, job_data, place
from gluepot.job.glue_metrics.reports import Reports
from gluepot.job.glue_metrics.starting import REPORTS_FOLDER, reporting
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.query.session import StreamSession

LAKE, TOPIC = Dataset("s3://lake", "clicks"), Dataset("kafka://broker:9092", "clicks")
GAUGES = Gauges(
    executors=1,
    needed_executors=3,
    slots=4,
    active_tasks=1,
    blocks_disk_bytes=1 << 20,
    blocks_free_bytes=3 << 20,
    heap=Memory(25, 100),
    non_heap=Memory(5, 10),
    cpu_load=None,
    disk=Memory(1 << 30, 4 << 30),
    one_process=False,
)


class Run:
    """A run whose numbers a test chooses."""

    def __init__(self, folder, *, job_metrics=True, observability=True):
        self.folder = folder
        self.counts, self.gauges = Counts(), None
        self.outputs, self.failures = [], []
        self.reports = Reports(
            folder / "metrics",
            Names("clicks", "jr_1"),
            job_metrics,
            observability,
            lambda: (),
            lambda: self.outputs,
            lambda: Account({"orders": Reading(10, 7, 2, 1)}, Writes(8, 5, 1, 2)),
            FakeClock(100.0),
            lambda *failure: self.failures.append(failure),
            lambda _: (self.counts, self.gauges),
        )

    def report(self):
        """Make a report; return the values of the run by name, and by what they are of if that is told."""
        known = set((self.folder / "metrics").glob("*"))
        self.reports.report()
        found = {}
        for path in set((self.folder / "metrics").glob("*")) - known:
            for request in json.loads(path.read_text()):
                for datum in request["MetricData"]:
                    dimensions = {one["Name"]: one["Value"] for one in datum["Dimensions"]}
                    of = dimensions.get("Sink") or dimensions.get("Source") or dimensions.get("EvaluationContext")
                    if dimensions.get("JobRunId") != "ALL":
                        found[(datum["MetricName"], of) if of else datum["MetricName"]] = datum["Value"]
                    assert datum["Timestamp"] == 100.0
        return found


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_the_account_is_reported_once_when_the_run_ends(run):
    assert "gluepot.records.read" not in run.report()
    run.reports._ends.set()

    assert {name: value for name, value in run.report().items() if str(name).startswith("gluepot.")} == {
        "gluepot.records.read": 10,
        "gluepot.records.delivered": 7,
        "gluepot.records.rejected": 2,
        "gluepot.records.leftOut": 1,
        "gluepot.rows.arrived": 8,
        "gluepot.rows.written": 5,
        "gluepot.rows.refused": 1,
        "gluepot.rows.skipped": 2,
    }


def batch(batch_id, rows, secs, lag_secs):
    lags = {"clicks-0": lag_secs, "clicks-1": 0.0}
    written = [Output(LAKE, rows, 10 * rows, 1)]
    return BatchStats("q", batch_id, 1.0, 10.0, secs, rows_in=rows, lag_secs=lags, inputs=[TOPIC], outputs=written)


def test_counts_are_those_since_the_last_report(run):
    run.counts = Counts(records_read=5, stages=2, elapsed_ms=100)
    first = run.report()
    run.counts = Counts(records_read=12, stages=2, elapsed_ms=130)
    second = run.report()
    for name, values in (("recordsRead", (5, 7)), ("numCompletedStages", (2, 0)), ("elapsedTime", (100, 30))):
        assert (first[f"glue.driver.aggregate.{name}"], second[f"glue.driver.aggregate.{name}"]) == values


@pytest.mark.parametrize(("places", "size"), [(["s3://a", "s3a://b"], 640), (["s3://a", "file"], None), ([], None)])
def test_bytes_of_s3_are_told_if_all_sources_are_there(places, size):
    sources = [Dataset(place, "orders") for place in places]
    told = {one["MetricName"]: one["Value"] for one in job_data(Names("j", "r"), Counts(bytes_read=640), None, sources)}
    assert told.get("glue.ALL.s3.filesystem.read_bytes") == size


def test_gauges_are_those_of_the_moment(run):
    run.gauges = GAUGES
    found = run.report()
    executors = "glue.driver.ExecutorAllocationManager.executors"
    assert (found[f"{executors}.numberAllExecutors"], found[f"{executors}.numberMaxNeededExecutors"]) == (1, 3)
    assert found["glue.driver.BlockManager.memory.remainingMB"] == 3
    assert (found["glue.driver.jvm.heap.usage"], found["glue.driver.workerUtilization"]) == (0.25, 0.25)
    assert (found["glue.driver.memory.total.used"], found["glue.driver.memory.total.available"]) == (30, 80)
    assert (found["glue.driver.disk.used_GB"], found["glue.driver.disk.available_GB"]) == (1, 3)
    # On a cluster the driver does not stand for all, and the load of this machine is not known.
    assert not [name for name in found if "ALL" in name or "cpu" in name]


def test_batches_are_summed_up_and_their_data_is_told_by_source_and_sink(run):
    run.counts = Counts(records_read=30, bytes_read=300)
    run.reports.update(batch(1, 10, 0.5, 3.0))
    run.reports.update(batch(2, 20, 0.25, 2.0))
    found, sink = run.report(), "s3://lake/clicks"
    assert found["glue.driver.streaming.numRecords"] == 30
    assert found["glue.driver.streaming.batchProcessingTimeInMs"] == 750
    assert found["glue.driver.streaming.maxConsumerLagInMs"] == 3000
    assert found["glue.driver.recordsRead", "kafka://broker:9092/clicks"] == 30
    assert found["glue.driver.aggregate.recordsWritten"] == found["glue.driver.aggregate.numOutputRows"] == 30
    written = {name: found[f"glue.driver.{name}", sink] for name in ("recordsWritten", "bytesWrittten", "filesWritten")}
    assert written == {"recordsWritten": 30, "bytesWrittten": 300, "filesWritten": 2}
    run.outputs.append(Output(LAKE, 5, 50, 1))
    again = run.report()
    assert again["glue.driver.recordsWritten", sink] == 5
    assert "glue.driver.streaming.numRecords" not in again
    assert ("glue.driver.recordsWritten", sink) not in run.report()


def test_checks_of_data_quality_are_told_once_if_the_script_asks_for_it(run):
    outcomes = [RuleOutcome("RowCount > 1", True), RuleOutcome("RowCount > 9", False)]
    for evaluation, asked in (("e1", True), ("e1", True), ("e2", False)):
        result = Result(Source("clicks", "context"), evaluation, "jr_1", 0, 5, outcomes)
        run.reports.checked(Checked(result, in_cloudwatch=asked))
    found = run.report()
    assert found["glue.data.quality.rules.passed", "context"] == 1
    assert found["glue.data.quality.rules.failed", "context"] == 1


@pytest.mark.parametrize(("wants", "told"), [("job_metrics", "aggregate"), ("observability", "workerUtilization")])
def test_a_run_tells_what_it_was_asked_for(tmp_path, wants, told):
    run = Run(tmp_path, **{"job_metrics": False, "observability": False, wants: True})
    run.gauges = GAUGES
    found = [name for name in ("aggregate", "workerUtilization") if any(name in one for one in run.report())]
    assert found == [told]


def test_reports_that_nobody_takes_are_not_kept_for_ever(run, monkeypatch):
    monkeypatch.setattr("gluepot.job.glue_metrics.reports._MOST_WAITING", 3)
    for number in range(5):
        run.counts = Counts(records_read=number + 1)
        run.reports.report()
    assert sorted(path.name for path in (run.folder / "metrics").iterdir()) == [
        *("jr_1.1.json", "jr_1.2.json", "jr_1.3.json")
    ]


def test_nothing_is_told_before_anything_was_done(run):
    assert run.report() == {}
    assert list(run.folder.iterdir()) == []


def test_what_goes_wrong_is_told_and_the_run_goes_on(run):
    run.counts = Counts(stages=1)
    (run.folder / "metrics").write_text("a file where the folder should be")
    run.reports.begin()
    run.reports.end()
    [(_, task, error)] = run.failures
    assert (task, isinstance(error, OSError)) == ("glue_metrics", True)
    (run.folder / "metrics").unlink()
    assert run.report()["glue.driver.aggregate.numCompletedStages"] == 1


def test_spark_that_cannot_be_read_leaves_the_rest(run):
    run.counts = Counts(records_read=5)
    run.report()
    run.reports.status = lambda _: 1 / 0
    run.outputs.append(Output(LAKE, 5))
    found = run.report()
    assert found["glue.driver.recordsWritten", "s3://lake/clicks"] == 5
    assert "glue.driver.aggregate.recordsRead" not in found


@pytest.mark.parametrize(
    "arguments", [["--enable-metrics"], ["--enable-observability-metrics", "true"], ["--enable-metrics", "false"]]
)
def test_a_run_without_the_service_reports_nothing(arguments):
    streams = StreamSession()
    reporting(JobParameters.parse(["job.py", *arguments]), streams, {})()
    assert (streams.watchers, streams.check_watchers) == ([], [])


@pytest.mark.parametrize("asked", [False, True])
def test_a_check_with_metrics_is_reported_without_any_parameter(tmp_path, asked):
    streams = StreamSession()
    end = reporting(JobParameters.parse(["job.py"]), streams, {REPORTS_FOLDER: str(tmp_path)})
    result = Result(Source("job", "context"), "e1", "jr_1", 0, 5, [RuleOutcome("RowCount > 1", True)])
    streams.checked(Checked(result, in_cloudwatch=asked))
    end()
    found = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert [request["Namespace"] for report in found for request in report] == ["Glue Data Quality"] * asked


def test_names_of_places_are_what_a_dimension_takes():
    assert place(Dataset("file", "/data/in")) == "/data/in"
    assert place(Dataset("s3://lake", "Übergrößen")) == "s3://lake/bergren"
    assert place(Dataset("file", "ü")) == "<non-ASCII input>"
    assert len(place(Dataset("file", "x" * 600))) == 500
