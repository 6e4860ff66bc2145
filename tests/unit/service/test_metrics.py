"""CloudWatch's metrics: what is put is read back, in periods, statistics and pages, and what is wrong is refused."""

import json
import math
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.controllers import metric_reports
from gluepot.service.controllers.metric_reports import MetricReports
from gluepot.service.decisions.metrics import KEPT_MS, Statistics
from gluepot.service.errors import ServiceError
from gluepot.service.operations import metrics as operations
from tests.unit.service.test_retention import retention
from tests.unit.service.world import NOON, World

CLOUDWATCH = "GraniteServiceVersion20100801"
SHOP = [{"Name": "Shop", "Value": "north"}]
MINUTE = 60


@pytest.fixture(scope="module")
def unchanged_world(tmp_path_factory, empty_database):
    """A world for calls that are refused, so that they can share it."""
    folder = tmp_path_factory.mktemp("unchanged")
    shutil.copy(empty_database, folder / "service.db")
    return World(folder, NOON)


def put(world, name, at=NOON, dimensions=SHOP, **datum):
    one = {"MetricName": name, "Dimensions": dimensions, "Timestamp": at, **datum}
    world.call("PutMetricData", of=CLOUDWATCH, Namespace="Shop", MetricData=[one])


def statistics(world, name, *simple, start=NOON - 600, end=NOON + 600, period=MINUTE, **more):
    asked = {"Statistics": list(simple)} if simple else {}
    about = {"Namespace": "Shop", "MetricName": name, "Dimensions": SHOP, **asked, **more}
    span = {"StartTime": start, "EndTime": end, "Period": period}
    return world.call("GetMetricStatistics", of=CLOUDWATCH, **about, **span)["Datapoints"]


def query(name, stat="Sum", of="m", period=MINUTE, **more):
    metric = {"Namespace": "Shop", "MetricName": name, "Dimensions": SHOP}
    return {"Id": of, "MetricStat": {"Metric": metric, "Period": period, "Stat": stat}, **more}


def data(world, *queries, start=NOON - 600, end=NOON + 600, **more):
    return world.call(
        "GetMetricData", of=CLOUDWATCH, MetricDataQueries=list(queries), StartTime=start, EndTime=end, **more
    )


def names(world, **wanted):
    return [one["MetricName"] for one in world.call("ListMetrics", of=CLOUDWATCH, **wanted)["Metrics"]]


def test_values_of_a_minute_have_five_statistics_and_percentiles(world):
    for value in (1, 2, 3, 10):
        put(world, "orders", Value=value, Unit="Count")
    [point] = statistics(
        world, "orders", *("Sum", "Average", "Minimum", "Maximum", "SampleCount"), ExtendedStatistics=["p50", "p99.9"]
    )
    assert point == {
        "Timestamp": NOON,
        "Unit": "Count",
        "Sum": 16,
        "Average": 4,
        "Minimum": 1,
        "Maximum": 10,
        "SampleCount": 4,
        "ExtendedStatistics": {"p50": 2, "p99.9": 10},
    }


def test_periods_begin_with_the_start_and_the_end_is_not_among_them(world):
    for minute in range(5):
        put(world, "orders", NOON + minute * MINUTE + 30, Value=1)
    points = statistics(world, "orders", "Sum", start=NOON + 15, end=NOON + 4 * MINUTE, period=3 * MINUTE)
    assert [(one["Timestamp"], one["Sum"]) for one in points] == [(NOON, 3), (NOON + 3 * MINUTE, 1)]


def test_units_are_told_apart_unless_they_are_summed_up(world):
    put(world, "size", Value=1, Unit="Bytes")
    put(world, "size", Value=5, Unit="Kilobytes")
    put(world, "size", Value=7)
    assert {one["Unit"]: one["Sum"] for one in statistics(world, "size", "Sum")} == {
        "Bytes": 1,
        "Kilobytes": 5,
        "None": 7,
    }
    assert [one["Sum"] for one in statistics(world, "size", "Sum", Unit="Bytes")] == [1]
    assert data(world, query("size"))["MetricDataResults"][0]["Values"] == [13]


def test_sets_of_values_and_statistics_are_taken(world):
    put(world, "many", Values=[1, 2], Counts=[3, 1])
    put(world, "set", StatisticValues={"SampleCount": 4, "Sum": 10, "Minimum": 1, "Maximum": 5})
    assert [one["Average"] for one in statistics(world, "many", "Average")] == [1.25]
    assert [one["Maximum"] for one in statistics(world, "set", "Maximum")] == [5]
    # Their values are not known.
    assert statistics(world, "set", ExtendedStatistics=["p50"]) == []


def test_series_and_arithmetic_with_them_come_in_the_order_that_is_asked_for(world):
    for minute, value in enumerate((4, 0, 8)):
        put(world, "all", NOON + minute * MINUTE, Value=value)
    put(world, "failed", NOON, Value=1)
    put(world, "failed", NOON + MINUTE, Value=1)
    rate = {"Id": "rate", "Expression": "100 * bad / all_of", "Label": "percent"}
    queries = (query("all", of="all_of"), query("failed", of="bad", ReturnData=False), rate)
    first, second = data(world, *queries, ScanBy="TimestampAscending")["MetricDataResults"]
    assert (first["Label"], first["Values"], first["StatusCode"]) == ("all", [4, 0, 8], "Complete")
    assert second == {**second, "Label": "percent", "Timestamps": [NOON], "Values": [25]}
    assert data(world, query("all"))["MetricDataResults"][0]["Values"] == [8, 0, 4]
    chain = ({"Id": "twice", "Expression": "-(m + m)"}, {"Id": "more", "Expression": "twice - 1"}, query("all"))
    assert data(world, *chain)["MetricDataResults"][1]["Values"] == [-17, -1, -9]


def test_pages_of_series_have_all_data_once(world):
    for minute in range(5):
        put(world, "a", NOON + minute * MINUTE, Value=minute)
        put(world, "b", NOON + minute * MINUTE, Value=10 + minute)
    found, token = {"a": [], "b": [], "none": []}, {}
    while True:
        page = data(world, query("a", of="a"), query("none", of="none"), query("b", of="b"), MaxDatapoints=3, **token)
        for one in page["MetricDataResults"]:
            found[one["Id"]] += one["Values"]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert found == {"a": [4, 3, 2, 1, 0], "b": [14, 13, 12, 11, 10], "none": []}


def test_metrics_are_listed_by_what_they_have(world):
    put(world, "orders", Value=1)
    put(world, "orders", dimensions=[{"Name": "Shop", "Value": "south"}, {"Name": "Floor", "Value": "1"}], Value=1)
    put(world, "old", NOON - 4 * 3600, Value=1)
    assert names(world) == ["orders", "orders", "old"]
    assert names(world, Namespace="Shop", MetricName="old") == ["old"]
    assert names(world, Namespace="Other") == []
    assert names(world, Dimensions=[{"Name": "Shop", "Value": "north"}]) == ["orders", "old"]
    assert names(world, Dimensions=[{"Name": "Floor"}]) == ["orders"]
    assert names(world, RecentlyActive="PT3H") == ["orders", "orders"]


def test_metrics_are_pages_of_500(world):
    some = [{"MetricName": f"m{number}", "Value": 1} for number in range(501)]
    world.call("PutMetricData", of=CLOUDWATCH, Namespace="Shop", MetricData=some)
    first = world.call("ListMetrics", of=CLOUDWATCH)
    rest = world.call("ListMetrics", of=CLOUDWATCH, NextToken=first["NextToken"])
    assert ([len(one["Metrics"]) for one in (first, rest)], "NextToken" in rest) == ([500, 1], False)


def test_a_call_reads_only_so_many_metrics(world, monkeypatch):
    monkeypatch.setattr(operations, "_PIECE", 3)
    monkeypatch.setattr(operations, "_MOST_PIECES", 2)
    some = [{"MetricName": f"m{number}", "Value": 1} for number in range(6)]
    world.call("PutMetricData", of=CLOUDWATCH, Namespace="Shop", MetricData=some)
    put(world, "orders", Value=1)
    first = world.call("ListMetrics", of=CLOUDWATCH, Dimensions=[{"Name": "Shop"}])
    assert first["Metrics"] == []
    assert names(world, Dimensions=[{"Name": "Shop"}], NextToken=first["NextToken"]) == ["orders"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda world: put(world, "orders"), "MissingParameter"),
        (lambda world: put(world, "orders", Value=1, Values=[1]), "InvalidParameterCombination"),
        (lambda world: put(world, "orders", NOON - 15 * 24 * 3600, Value=1), "InvalidParameterValue"),
        (lambda world: put(world, "orders", NOON + 3 * 3600, Value=1), "InvalidParameterValue"),
        (lambda world: put(world, "orders", Value=1e300), "InvalidParameterValue"),
        (lambda world: put(world, "orders", Values=[1, 2], Counts=[1]), "InvalidParameterValue"),
        (lambda world: put(world, "orders", dimensions=[*SHOP, *SHOP], Value=1), "InvalidParameterValue"),
        (
            lambda world: world.call("PutMetricData", of=CLOUDWATCH, Namespace="AWS/Glue", MetricData=[]),
            "InvalidParameterValue",
        ),
        (lambda world: statistics(world, "orders"), "MissingParameter"),
        (lambda world: statistics(world, "orders", "Sum", period=90), "InvalidParameterValue"),
        (lambda world: statistics(world, "orders", "Sum", start=NOON, end=NOON), "InvalidParameterValue"),
        (lambda world: statistics(world, "orders", "Sum", start=NOON - 10**6), "InvalidParameterCombination"),
        (lambda world: statistics(world, "orders", ExtendedStatistics=["tm90"]), "InvalidParameterValue"),
        (lambda world: names(world, NextToken="nonsense"), "InvalidParameterValue"),
        (data, "ValidationError"),
        (lambda world: data(world, query("a", of="Upper")), "ValidationError"),
        (lambda world: data(world, query("a"), query("b")), "ValidationError"),
        (lambda world: data(world, query("a", stat="median")), "InvalidParameterValue"),
        (lambda world: data(world, query("a", ReturnData=False)), "ValidationError"),
        (lambda world: data(world, query("a", Expression="m")), "ValidationError"),
        (lambda world: data(world, {"Id": "e", "Expression": "missing + 1"}), "ValidationError"),
        (lambda world: data(world, {"Id": "e", "Expression": "e + 1"}), "ValidationError"),
        (lambda world: data(world, query("a"), NextToken="nonsense"), "InvalidNextToken"),
        *(
            (lambda world, one=one: data(world, query("a"), {"Id": "e", "Expression": one}), "ValidationError")
            for one in ("SEARCH('{Glue,JobName}', 'Sum')", "m ** 9", "m.real", "7", "m if m else m", "(" * 500, "'m'")
        ),
    ],
)
def test_what_is_wrong_is_refused_by_the_codes_of_aws(unchanged_world, call, code):
    with pytest.raises(ServiceError) as refused:
        call(unchanged_world)
    assert refused.value.code == code


values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


@given(values, values)
def test_statistics_of_parts_are_those_of_the_whole(first, second):
    def of(some):
        return Statistics.of({value: float(some.count(value)) for value in some})

    joined, whole = of(first).with_more(of(second)), of(first + second)
    for name in ("SampleCount", "Minimum", "Maximum", "p0", "p50", "p100"):
        assert joined.value(name) == whole.value(name)
    assert math.isclose(joined.total, whole.total, abs_tol=1e-6)
    assert whole.value("p100") == max(first + second)


def test_data_is_kept_for_15_days(world):
    put(world, "orders", Value=1)
    world.clock.now += KEPT_MS / 1000
    retention(world).step()
    assert names(world) == ["orders"]
    world.clock.now += 1
    retention(world).step()
    assert names(world) == []
    assert statistics(world, "orders", "Sum") == []


# -- runs


def report(world, run_id, number, value):
    folder = world.script.parent / "metrics"
    folder.mkdir(exist_ok=True)
    datum = {"MetricName": "orders", "Dimensions": SHOP, "Timestamp": world.clock.now, "Value": value}
    (folder / f"{run_id}.{number}.json").write_text(json.dumps([{"Namespace": "Shop", "MetricData": [datum]}]))
    return MetricReports(world.store, folder, world.clock), folder


def test_reports_of_runs_are_taken_once(world, monkeypatch):
    world.job("daily")
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    for number in range(9, 12):
        reports, folder = report(world, run_id, number, 1)
    (folder / f"{run_id}.12.part").write_text("[")

    class Killed(BaseException):
        """The service is killed."""

    places = ["service.taking_metrics", "service.metrics_taken"]

    def reach(name):
        if places and name == places[0]:
            places.pop(0)
            raise Killed

    monkeypatch.setattr(metric_reports, "reach", reach)
    for _ in range(2):
        with pytest.raises(Killed):
            reports.step()
    reports.step()
    report(world, run_id, 11, 1)
    report(world, run_id, 12, 1)
    reports.step()
    assert [one["Sum"] for one in statistics(world, "orders", "Sum")] == [4]
    assert [one.name for one in folder.iterdir()] == [f"{run_id}.12.part"]


def test_reports_that_nobody_understands_and_those_of_unknown_runs_are_dropped(world):
    world.job("daily")
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    reports, folder = report(world, "jr_unknown", 1, 1)
    for number, text in enumerate(("nonsense", "{}", '[{"Namespace": "AWS/Glue"}]', "[1]"), 1):
        (folder / f"{run_id}.{number}.json").write_text(text)
    report(world, run_id, 7, 1)
    reports.step()
    assert [one["Sum"] for one in statistics(world, "orders", "Sum")] == [1]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "told"),
    [(0, {"glue.succeed.ALL"}), (1, {"glue.error.ALL", "glue.error.SYSTEM_EXIT_ERROR"})],
)
def test_the_end_of_a_run_is_a_metric_if_it_asks_for_it(world, code, told):
    world.job("quiet")
    world.job("observed", DefaultArguments={"--enable-observability-metrics": "true"})
    for job in ("quiet", "observed"):
        run_id = world.call("StartJobRun", JobName=job)["JobRunId"]
        world.steps()
        world.end(job, code)
    found = world.call("ListMetrics", of=CLOUDWATCH, Namespace="Glue")["Metrics"]
    assert {one["MetricName"] for one in found} == told
    dimensions = [{one["Name"]: one["Value"] for one in each["Dimensions"]} for each in found]
    assert {one["JobRunId"] for one in dimensions} == {run_id, "ALL"}
    assert {(one["JobName"], one["Type"], one["ObservabilityGroup"]) for one in dimensions} == {
        ("observed", "count", "error")
    }
