"""Exit codes and what is said on the way out: one sentence, and no stack trace unless it is asked for."""

from __future__ import annotations

import socket
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.jobs import EXAMPLES, GLUEPOT, arguments


@pytest.fixture
def script(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "job.py"
        path.write_text(text)
        return path

    return write


def test_a_script_that_comes_to_its_end_is_0(launch, script):
    job = launch.gluepot("run", script("print('done')"))

    assert (job.exit_code(), job.out, job.sentences()) == (0, "done\n", [])


def test_a_script_that_raises_is_1_with_the_error_in_one_sentence(launch, script):
    job = launch.gluepot("run", script("{}['price']"))

    assert (job.exit_code(), job.sentences()) == (1, ["error: KeyError: 'price'"])
    assert "Run again with -v for the stack trace." in job.err


def test_verbose_shows_the_line_of_the_script(launch, script):
    job = launch.gluepot("run", script("{}['price']"), "-v")

    assert job.exit_code() == 1
    assert "job.py\", line 1, in <module>\n    {}['price']" in job.err


def test_a_script_that_exits_keeps_its_code(launch, script):
    assert launch.gluepot("run", script("raise SystemExit(7)")).exit_code() == 7


def test_a_missing_script_is_2(launch):
    job = launch.gluepot("run", "nothing.py")

    assert job.exit_code() == 2
    assert job.sentences() == ["error: There is no script nothing.py; give the path of a Python file."]


def test_a_misspelled_option_is_2_and_does_not_reach_the_script(launch, script):
    job = launch.gluepot("run", script("print('ran')"), "--until-caught-upp")

    assert (job.exit_code(), job.out) == (2, "")
    (sentence,) = job.sentences()
    assert sentence.startswith("error: Unknown option: --until-caught-upp. Did you mean --until-caught-up?")


def test_a_script_argument_before_the_dashes_is_2_and_the_sentence_tells_its_place(launch, script):
    job = launch.gluepot("run", script("print('ran')"), "--JOB_NAME", "clicks")

    assert (job.exit_code(), job.out) == (2, "")
    assert job.sentences() == ["error: Unknown option: --JOB_NAME. Put the script's own arguments after `--`."]


def test_a_wrong_value_is_2_and_named(launch, script):
    job = launch.gluepot("run", script("print('ran')"), "--max-batches", "0")

    assert (job.exit_code(), job.sentences()) == (2, ["error: --max-batches is 0; use 1 or more."])


def test_a_metrics_port_in_use_is_2_before_the_script_starts(launch, script):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        job = launch.gluepot("run", script("print('ran')"), "--metrics-port", str(port))

        assert (job.exit_code(), job.out) == (2, "")
    (sentence,) = job.sentences()
    assert sentence.startswith(f"error: the metrics port {port} on 127.0.0.1 cannot be used")
    assert "--metrics-port" in sentence


def test_the_metrics_page_may_be_set_in_the_environment(launch, script):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        metrics = {"GLUEPOT_METRICS_PORT": port, "GLUEPOT_METRICS_HOST": "127.0.0.1"}
        job = launch(*GLUEPOT, "run", script("print('ran')"), env=metrics)
        told = launch(*GLUEPOT, "run", script("print('ran')"), "--metrics-port", "0", env=metrics)

        assert (job.exit_code(), told.exit_code()) == (2, 0)
    (sentence,) = job.sentences()
    assert sentence.startswith(f"error: the metrics port {port} on 127.0.0.1 cannot be used")


def test_metrics_for_other_machines_need_a_token(launch, script):
    job = launch.gluepot("run", script("print('ran')"), "--metrics-port", "0", "--metrics-host", "0.0.0.0")

    assert (job.exit_code(), job.out) == (2, "")
    (sentence,) = job.sentences()
    assert sentence.startswith("error: the ops server on 0.0.0.0 can be reached from other machines, and has no token")


def test_a_running_script_is_asked_for_its_health_and_shows_no_secret(launch, script, tmp_path):
    go = tmp_path / "go"
    waiting = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.05)"
    job = launch.gluepot("run", script(waiting), "--metrics-port", "0", "--", *arguments(db_password="hunter2"))
    job.wait_until(lambda: job.said("metrics"), "the address")
    address = urlsplit(job.said("metrics")[0]["url"])

    def get(page: str) -> tuple[int, str]:
        connection = HTTPConnection(address.netloc, timeout=10)
        connection.request("GET", page)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    lives, ready, config = get("/livez"), get("/readyz"), get("/config")
    go.touch()

    assert job.exit_code() == 0
    assert (lives, ready) == ((200, "ok\n"), (503, "failed\n"))
    assert '"db_password":"***"' in config[1]
    assert "hunter2" not in config[1]


def test_an_unknown_connection_is_2_and_the_known_ones_are_named(launch, tmp_path):
    connections = tmp_path / "connections.yaml"
    connections.write_text(
        "connections: {clicks: {type: kafka, properties: {KAFKA_BOOTSTRAP_SERVERS: '127.0.0.1:9', KAFKA_SSL_ENABLED: 'false'}}}"
    )
    job = launch.gluepot(
        "run", EXAMPLES / "clickstream.py", "--connections", connections, "--",
        *arguments(JOB_NAME="clicks", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
    )  # fmt: skip

    assert job.exit_code() == 2
    (sentence,) = job.sentences()
    assert "clickstream" in sentence
    assert "clicks" in sentence
    assert str(connections) in sentence
