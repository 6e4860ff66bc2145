from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from deploy.docker.health import MetricsPage, NoPage, main, metrics_page
from streaming.metrics_server import Server, serve


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("run job.py --metrics-port 9400", MetricsPage("127.0.0.1", 9400)),
        ("run job.py --metrics-port=9400 --metrics-host 0.0.0.0", MetricsPage("0.0.0.0", 9400)),
        ("run job.py --master local[2] --metrics-host ::1 --metrics-port 1 -- --JOB_NAME a", MetricsPage("::1", 1)),
        ("run job.py -- --metrics-port 9400", NoPage()),
        ("run job.py --metrics-port 0", NoPage()),
        ("--help", NoPage()),
    ],
)
def test_metrics_page_is_the_one_the_job_was_started_with(own, expected):
    assert metrics_page(["tini", "--", "gluepot", *own.split()], {}) == expected


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("run job.py", MetricsPage("0.0.0.0", 9400)),
        ("run job.py --metrics-port 1", MetricsPage("0.0.0.0", 1)),
        ("run job.py --metrics-port 0", NoPage()),
        ("up kafka", NoPage()),
    ],
)
def test_the_command_line_goes_before_the_environment_and_only_jobs_have_a_page(own, expected):
    environment = {"GLUEPOT_METRICS_PORT": "9400", "GLUEPOT_METRICS_HOST": "0.0.0.0"}
    assert metrics_page(["tini", "--", "gluepot", *own.split()], environment) == expected


@pytest.fixture
def job() -> Iterator[Server]:
    """The metrics page of a job."""
    server = serve(CollectorRegistry())
    yield server
    server.stop()


@pytest.fixture
def check(tmp_path, capsys):
    """Run the check in a container of this command line; return its exit code and what it says."""

    def run(command: str) -> tuple[int, str]:
        (tmp_path / "cmdline").write_text("".join(f"{word}\0" for word in command.split()))
        with pytest.raises(SystemExit) as ended:
            main(tmp_path / "cmdline", {})
        return ended.value.code, capsys.readouterr().out

    return run


def test_job_whose_metrics_page_answers_is_well(check, job):
    code, says = check(f"tini -- gluepot run job.py --metrics-port {job.port}")
    assert (code, says) == (0, f"{job.url} answers with status 200.\n")


def test_job_whose_metrics_page_is_gone_is_not_well(check):
    server = serve(CollectorRegistry())
    server.stop()
    code, says = check(f"tini -- gluepot run job.py --metrics-port {server.port}")
    assert code == 1
    assert says.startswith(f"{server.url} does not answer: ConnectionRefusedError")


def test_job_without_a_metrics_page_is_as_well_as_it_runs(check):
    assert check("tini -- gluepot run job.py") == (0, "The job runs; with --metrics-port it could be asked.\n")
