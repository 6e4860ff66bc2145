from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from deploy.docker.health import NoServer, OpsServer, main, ops_server
from gluepot.ops.server import Server, serve


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("run job.py --metrics-port 9400", OpsServer("127.0.0.1", 9400)),
        ("run job.py --metrics-port=9400 --metrics-host 0.0.0.0", OpsServer("0.0.0.0", 9400)),
        ("run job.py --master local[2] --metrics-host ::1 --metrics-port 1 -- --JOB_NAME a", OpsServer("::1", 1)),
        ("run job.py -- --metrics-port 9400", NoServer()),
        ("run job.py --metrics-port 0", NoServer()),
        ("--help", NoServer()),
    ],
)
def test_ops_server_is_the_one_the_job_was_started_with(own, expected):
    assert ops_server(["tini", "--", "gluepot", *own.split()], {}) == expected


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("run job.py", OpsServer("0.0.0.0", 9400)),
        ("run job.py --metrics-port 1", OpsServer("0.0.0.0", 1)),
        ("run job.py --metrics-port 0", NoServer()),
        ("up kafka", NoServer()),
    ],
)
def test_the_command_line_goes_before_the_environment_and_only_jobs_have_a_page(own, expected):
    environment = {"GLUEPOT_METRICS_PORT": "9400", "GLUEPOT_METRICS_HOST": "0.0.0.0"}
    assert ops_server(["tini", "--", "gluepot", *own.split()], environment) == expected


def app(status: int) -> Starlette:
    """What answers `/livez` with this status, and no other page."""
    return Starlette(routes=[Route("/livez", lambda _: PlainTextResponse("", status))])


@pytest.fixture
def job(request) -> Iterator[Server]:
    """The ops server of a job that lives, or answers with the status of the parameter."""
    server = serve(app(getattr(request, "param", 200)))
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


def test_job_whose_ops_server_answers_is_well(check, job):
    code, says = check(f"tini -- gluepot run job.py --metrics-port {job.port}")
    assert (code, says) == (0, f"{job.url.replace('metrics', 'livez')} answers with status 200.\n")


@pytest.mark.parametrize("job", [503], indirect=True)
def test_job_that_says_it_hangs_is_not_well(check, job):
    code, says = check(f"tini -- gluepot run job.py --metrics-port {job.port}")
    assert (code, says[-25:]) == (1, "answers with status 503.\n")


def test_job_whose_ops_server_is_gone_is_not_well(check):
    server = serve(app(200))
    server.stop()
    code, says = check(f"tini -- gluepot run job.py --metrics-port {server.port}")
    assert code == 1
    assert says.startswith(f"{server.url.replace('metrics', 'livez')} does not answer: ConnectionRefusedError")


def test_job_without_a_ops_server_is_as_well_as_it_runs(check):
    assert check("tini -- gluepot run job.py") == (0, "The job runs; with --metrics-port it could be asked.\n")
