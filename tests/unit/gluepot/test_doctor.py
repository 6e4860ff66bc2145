"""`gluepot doctor` and `gluepot version`: what they say and how they end; no Spark needed."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gluepot.catalog.connections import Connection
from gluepot.cli.doctor.judge import (
    Check,
    Endpoint,
    conclusion,
    endpoints,
    of_clock,
    of_compiled_modules,
    of_disk,
    of_endpoint,
)
from gluepot.cli.main import app, outcome
from gluepot.cli.parts import extras
from gluepot.core.disk import GIB_BYTES


def test_servers_are_those_that_variables_and_connections_name():
    environ = {
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000",
        "AWS_ENDPOINT_URL": "https://aws.example",
        "GLUEPOT_LEDGER": "postgresql+psycopg://me:pw@db/ledger",
        "GLUEPOT_CATALOG": "sqlite:////var/catalog.db",
        "GLUEPOT_PUSH_GATEWAY": "http://push:notaport",
        "OTHER": "http://other:1",
    }
    connections = [
        Connection("broker", "kafka", {"KAFKA_BOOTSTRAP_SERVERS": "b1:9092, b2:9093"}),
        Connection("shop", "jdbc", {"JDBC_CONNECTION_URL": "jdbc:postgresql://pg:5433/shop"}),
        Connection("old", "jdbc", {"JDBC_CONNECTION_URL": "jdbc:mysql://my/shop"}),
        Connection("secret", "jdbc", {"JDBC_CONNECTION_URL": "env:URL"}),
    ]
    assert list(endpoints(environ, connections)) == [
        Endpoint("AWS_ENDPOINT_URL", "aws.example", 443, "https://aws.example"),
        Endpoint("AWS_ENDPOINT_URL_S3", "127.0.0.1", 9000, "http://127.0.0.1:9000"),
        Endpoint("GLUEPOT_LEDGER", "db", 5432),
        Endpoint("connection broker", "b1", 9092),
        Endpoint("connection broker", "b2", 9093),
        Endpoint("connection shop", "pg", 5433),
        Endpoint("connection old", "my", 3306),
    ]


@pytest.mark.parametrize(
    ("endpoint", "to_do"),
    [
        (Endpoint("AWS_ENDPOINT_URL_KINESIS", "127.0.0.1", 4567), "Start it with `gluepot up kinesis` and export"),
        (Endpoint("AWS_ENDPOINT_URL_KINESIS", "aws.example", 443), "correct AWS_ENDPOINT_URL_KINESIS."),
        (Endpoint("connection broker", "127.0.0.1", 29092), "Start it with `gluepot up`."),
        (Endpoint("connection broker", "b1", 9092), "Start the server, or correct the connection."),
    ],
)
def test_a_server_that_does_not_answer_has_a_next_step(endpoint, to_do):
    found = of_endpoint(endpoint, "Connection refused", {"kafka": 29092})
    assert (found.state, found.found) == (
        "problem",
        f"{endpoint.host}:{endpoint.port} does not answer (Connection refused)",
    )
    assert to_do in found.to_do
    assert of_endpoint(endpoint, "", {}).state == "ok"


@pytest.mark.parametrize(("secs", "state"), [(-5.0, "ok"), (60.0, "warning"), (-301.0, "problem")])
def test_a_clock_may_be_off_by_less_than_aws_accepts(secs, state):
    assert of_clock("s3", secs).state == state


@pytest.mark.parametrize(
    ("forbidden", "why", "how"),
    [
        (True, "PYTHONDONTWRITEBYTECODE is set", "Unset it, or run `python -m compileall -q /site /mine` once."),
        (False, "their folders cannot be written", "Run `python -m compileall -q /site /mine` once."),
    ],
)
def test_modules_that_each_process_compiles_anew_are_a_warning(forbidden, why, how):
    missing = {"pyspark": Path("/site"), "pyarrow": Path("/site"), "gluepot": Path("/mine")}
    found = of_compiled_modules(missing, forbidden=forbidden)
    assert (found.state, found.to_do) == ("warning", how)
    assert found.found == f"each process compiles pyspark, pyarrow, gluepot anew: {why}"
    assert of_compiled_modules({}, forbidden=forbidden).state == "ok"


@pytest.mark.parametrize(("gib", "state"), [(8, "ok"), (1, "warning"), (0.1, "problem")])
def test_a_full_disk_is_a_problem_and_a_nearly_full_one_a_warning(gib, state):
    assert of_disk("state folder", "/state", int(gib * GIB_BYTES)).state == state


def test_the_conclusion_names_what_is_missing():
    assert conclusion([Check("java", "problem", ""), Check("disk", "warning", "")]).startswith(
        "Jobs need what is missing here: java."
    )
    assert conclusion([Check("disk", "warning", "")]) == "Nothing that jobs need is missing."


class _Late(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response_only(200)  # without a date of its own
        self.send_header("Date", "Wed, 01 Jan 2020 00:00:00 GMT")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), _Late) as late:
        threading.Thread(target=late.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{late.server_port}"
        late.shutdown()


@pytest.fixture
def doctor(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr("gluepot.cli.doctor.judge.LEAST_BYTES", 0)  # what the disk of the test has is not its matter
    for name in ("AWS_PROFILE", "GLUEPOT_PROJECT", "GLUEPOT_CONNECTIONS", "GLUEPOT_LEDGER", "GLUEPOT_CATALOG"):
        monkeypatch.delenv(name, raising=False)

    def call(code: int) -> dict[str, dict[str, str]]:
        assert outcome(app, ["doctor", "--output", "json"]) == code
        return {one["name"]: one for one in json.loads(capsys.readouterr().out)}

    return call


def test_a_machine_that_has_everything_ends_with_0(doctor):
    found = doctor(0)
    assert (found["java"]["state"], found["aws credentials"]["found"]) == ("ok", "from env")
    assert found["aws region"]["found"] == "eu-west-1"
    assert found["clock"]["found"] == "not compared: no HTTP server is named"


def test_each_thing_that_is_missing_is_a_problem_and_ends_with_1(doctor, server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "file" / "state"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    Path("gluepot.toml").write_text(f"[run]\nscript = 'none.py'\n[servers.kafka]\nport = {port}\n")
    Path("gluepot.connections.yaml").write_text(
        f"connections:\n  broker:\n    type: kafka\n    properties:\n      KAFKA_BOOTSTRAP_SERVERS: 127.0.0.1:{port}\n"
    )
    found = doctor(1)
    problems = {name: one["to_do"] for name, one in found.items() if one["state"] == "problem"}
    assert problems == {
        "state folder": "Let GLUEPOT_STATE name a folder that you may write to.",
        "project file": "Correct run.script in gluepot.toml.",
        "connection broker": "Start it with `gluepot up`.",
        "clock": "Let NTP set the clock: signatures of AWS and leases depend on it.",
    }
    assert found["AWS_ENDPOINT_URL_S3"]["state"] == "ok"


@pytest.mark.parametrize(("forbidden", "state"), [(True, "warning"), (False, "ok")])
def test_python_that_may_not_store_what_it_compiles_is_noticed(doctor, tmp_path, monkeypatch, forbidden, state):
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path / "none"))
    monkeypatch.setattr("sys.dont_write_bytecode", forbidden)
    assert doctor(0)["compiled modules"]["state"] == state


def test_a_machine_without_java_is_told_how_to_get_one(doctor, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/none")
    monkeypatch.setenv("PATH", "/none")
    monkeypatch.setattr("gluepot.spark.java.importlib.util.find_spec", lambda _: None)
    java = doctor(1)["java"]
    assert (java["state"], "pip install 'gluepot[jvm]'" in java["to_do"]) == ("problem", True)


def test_files_that_cannot_be_used_are_problems_with_their_own_sentence(doctor):
    Path("gluepot.toml").write_text("[rum]")
    Path("gluepot.connections.yaml").write_text("[")
    found = doctor(1)
    assert found["project file"]["to_do"] == "gluepot.toml has an unknown key rum. Known are run, servers."
    assert found["connections"]["state"] == "problem"


def test_the_version_says_which_parts_are_there(capsys):
    assert outcome(app, ["version", "--output", "json"]) == 0
    found = {one["part"]: one["found"] for one in json.loads(capsys.readouterr().out)}
    assert {"gluepot", "python", "platform", "json kernel", "spark", "java", "extra pii"} <= set(found)
    assert found["extra demo"].startswith("duckdb ")


def test_an_extra_is_there_if_all_its_packages_are():
    required = ["pytest>=8 ; extra == 'a'", 'pytest-none>=1; extra == "b"', 'pytest; extra == "b"', "cyclopts>=4"]
    there, missing = extras(required)
    assert (there.name, there.found, there.how) == ("extra a", f"pytest {pytest.__version__}", "")
    assert (missing.name, missing.found, missing.how) == ("extra b", None, "pip install 'gluepot[b]'")
