"""`gluepot advise` over a recorded log, and the log itself."""

import json

import pytest

from gluepot.cli.advise import advise_from
from gluepot.core.errors import ConfigError
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.job.options import RunOptions
from gluepot.job.run import run
from gluepot.streaming.advisor import AdviceLog, AdvisorSettings
from gluepot.streaming.advisor.glue_cost import USD_PER_DPU_HOUR, glue_cost, worker_type
from gluepot.streaming.advisor.log import recorded
from gluepot.streaming.progress import BatchStats


def stats(index, rows, secs, query="clicks"):
    waiting = {f"t-{number}": int(rows * secs / 60 / 12) for number in range(12)}
    return BatchStats(query, index, 60.0, 60.0 * index, secs, rows_in=rows, lag_records=waiting)


@pytest.fixture
def log(tmp_path):
    """Thirty quiet batches on two workers and one with three times the rows."""
    shadow = AdviceLog(tmp_path / "advice.jsonl", lambda: 2, AdvisorSettings(repartitions=True))
    for index in range(31):
        rows = 450_000 if index < 30 else 1_350_000
        rows = int(rows * (1.0, 1.02, 0.98)[index % 3])
        shadow.update(stats(index, rows, 5.0 + rows / 12_000))
    return tmp_path / "advice.jsonl"


def advised(log, capsys, **changes):
    chosen = {"glue_type": "G.1X", "usd_per_worker_hour": None, "replay": False, "output": "json"} | changes
    advise_from(log, AdvisorSettings(repartitions=True, slots_per_worker=4), **chosen)
    return capsys.readouterr().out


def test_each_line_of_the_log_has_what_was_seen_and_what_was_advised(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 31
    assert lines[-1]["observation"]["rows"] == 1_350_000
    assert lines[-1]["advice"]["limit"] == "workers"
    assert lines[-1]["advice"]["wanted_workers"] > 2


def test_the_advice_of_the_last_batch_names_workers_reason_and_cost(log, capsys):
    (one,) = json.loads(advised(log, capsys, usd_per_worker_hour=0.1))
    assert (one["query"], one["limit"], one["workers"]) == ("clicks", "workers", 2)
    wanted = one["wanted_workers"]
    assert one["cost"]["wanted"] == {
        "glue_workers": wanted + 1,
        "glue_usd_per_day": round((wanted + 1) * USD_PER_DPU_HOUR * 24, 2),
        "here_usd_per_day": round(wanted * 0.1 * 24, 2),
    }


def test_a_person_reads_the_reason_and_where_prices_are_from(log, capsys):
    text = advised(log, capsys, output="text")
    assert text.startswith("clicks: workers 2 -> ")
    assert "rows/s are expected" in text
    assert "aws.amazon.com/glue/pricing" in text


def test_replay_shows_the_one_change(log, capsys):
    rows = json.loads(advised(log, capsys, replay=True))
    assert [(row["at"][:19], row["workers"]) for row in rows] == [("1970-01-01T00:31:57", 2)]


def test_queries_of_one_log_are_judged_apart(tmp_path, capsys):
    path = tmp_path / "advice.jsonl"
    shadow = AdviceLog(path, lambda: 1, AdvisorSettings())
    for index in range(5):
        shadow.update(stats(index, 1000 * (index + 1), 2.0, "small"))
        shadow.update(stats(index, 100_000 * (index + 1), 20.0, "large"))
    assert [one["query"] for one in json.loads(advised(path, capsys))] == ["small", "large"]


def test_a_line_cut_off_by_a_kill_is_left_out(log):
    log.write_bytes(log.read_bytes()[:-20])
    with log.open("rb") as lines:
        assert len(recorded(lines)["clicks"]) == 30


@pytest.mark.parametrize("content", ["{}\n", "[1]\n", "not json\n", '{"query": "a", "observation": {}}\n'])
def test_another_file_is_refused(tmp_path, capsys, content):
    (tmp_path / "other").write_text(content)
    with pytest.raises(ConfigError):
        advised(tmp_path / "other", capsys)


def test_a_log_that_is_not_there_or_empty_is_refused(tmp_path, capsys):
    with pytest.raises(ConfigError, match="There is no advice log"):
        advised(tmp_path / "missing", capsys)
    (tmp_path / "empty").touch()
    with pytest.raises(ConfigError, match="no finished batch"):
        advised(tmp_path / "empty", capsys)


def test_glue_has_one_worker_more_for_the_driver():
    assert glue_cost(32, WORKER_TYPES["G.1X"]).workers == 9  # the example of Glue's guide: 32 cores are 9 G.1X
    assert glue_cost(8, WORKER_TYPES["G.1X"]).workers == 3


def test_a_worker_type_without_a_price_is_refused_with_the_ones_that_have_one():
    with pytest.raises(ConfigError, match=r"use one of G.025X, G.1X"):
        worker_type("R.1X")


def test_an_advice_log_on_a_cluster_needs_the_cores_of_a_worker(tmp_path):
    script = tmp_path / "job.py"
    script.write_text("raise SystemExit(9)")
    with pytest.raises(ConfigError, match="--executor-cores"):
        run(script, options=RunOptions(master="spark://somewhere:7077", advice_log=tmp_path / "advice.jsonl"))
