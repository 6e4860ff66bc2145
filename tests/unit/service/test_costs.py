"""What runs cost: kept by day, job and tags, and added up by the value of a tag."""

import json
import time

import pytest

from gluepot.cli.cost import cost
from gluepot.core.errors import ConfigError
from gluepot.service.console.cost_pages import costs
from gluepot.service.console.page import Reader
from gluepot.service.decisions.costs import DayCost, TagCost, by_tag, tag_keys
from tests.unit.service.test_retention import retention

TEN_DPUS = {"WorkerType": "G.1X", "NumberOfWorkers": 10}


def run(world, job, secs=1800, code=0):
    world.call("StartJobRun", JobName=job)
    world.steps()
    world.steps(secs)
    world.end(job, code)


def page(world, **query):
    return costs(Reader(world.service, {}), query).values


def test_each_run_is_in_one_sum_and_the_largest_is_first():
    known = [
        DayCost(1, "a", {"team": "shop"}, 2, 3600.0, 1.0),
        DayCost(2, "a", {"team": "shop"}, 1, 1800.0, 0.5),
        DayCost(2, "b", {"team": "web", "env": "test"}, 1, 7200.0, 4.0),
        DayCost(2, "c", {}, 1, 0.0, 0.25),
    ]
    assert tag_keys(known) == ["env", "team"]
    assert by_tag(known, "team") == [
        TagCost("web", 1, 1, 2.0, 4.0),
        TagCost("shop", 1, 3, 1.5, 1.5),
        TagCost(None, 1, 1, 0.0, 0.25),
    ]


def test_a_run_counts_with_the_tags_that_its_job_had_when_it_ended(world):
    world.job("daily", Tags={"team": "shop"}, **TEN_DPUS)
    world.job("plain", **TEN_DPUS)
    run(world, "daily")
    world.call("TagResource", ResourceArn=world.service.arn("job", "daily"), TagsToAdd={"team": "web"})
    run(world, "daily", code=1)
    run(world, "plain")
    world.call("DeleteJob", JobName="daily")
    shown = {one["name"]: (one["runs"], one["dpu_hours"], one["usd"]) for one in page(world, tag="team")["sums"]}
    each = (1, "5.00", "$2.20")
    assert shown == {"shop": each, "web": each, "Without this tag": each}
    assert [one["runs"] for one in page(world)["sums"]] == [3]


def test_a_run_that_never_began_costs_nothing(world):
    world.job("daily", Tags={"team": "shop"})
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    world.call("BatchStopJobRun", JobName="daily", JobRunIds=[run_id])
    world.steps()
    assert page(world)["sums"] == []


def test_costs_outlast_runs_and_go_after_a_year(world):
    world.job("daily", **TEN_DPUS)
    run(world, "daily")
    for days, runs in ((100, [1]), (310, [])):
        world.clock.now += days * 24 * 3600
        retention(world).step()
        assert [one["runs"] for one in page(world, days="365")["sums"]] == runs


def test_the_command_adds_up_by_a_tag(world, tmp_path, monkeypatch, capsys):
    world.clock.now = time.time() - 7200
    world.job("daily", Tags={"team": "shop"}, **TEN_DPUS)
    run(world, "daily")
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path))
    cost(by_tag="team", output="json")
    assert json.loads(capsys.readouterr().out) == [{"team": "shop", "jobs": 1, "runs": 1, "dpu_hours": 5.0, "usd": 2.2}]
    cost(by_tag="runs", output="json")
    [row] = json.loads(capsys.readouterr().out)
    assert (row["tag runs"], row["runs"]) == (None, 1)
    with pytest.raises(ConfigError, match="leave out files"):
        cost(tmp_path / "runs.json", by_tag="team")
