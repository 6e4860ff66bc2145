"""The command of a run."""

import sys

import pytest

from gluepot.core.errors import ConfigError
from gluepot.service.decisions.commands import command_of
from gluepot.service.decisions.states import Run, State
from gluepot.service.keys import KeyPair
from gluepot.service.launch import python_shell
from gluepot.service.launch.drivers import master_of
from gluepot.service.launch.processes import said
from gluepot.service.server import run_environment


def command(arguments, location="s3://bucket/scripts/daily.py", kind="glueetl"):
    definition = {"GlueVersion": "4.0", "Command": {"Name": kind, "ScriptLocation": location}}
    run = Run(1, "jr_1", "daily", State.STARTING, definition, arguments)
    return command_of(run, lambda place: place.encode())


def test_a_script_gets_its_names_and_arguments():
    made = command({"--day": "monday", "--flag": ""})
    assert made.argv[:8] == [sys.executable, "-m", "gluepot", "run", "--glue-version", "4.0", "daily.py", "--"]
    assert made.argv[8:12] == ["--JOB_NAME", "daily", "--JOB_RUN_ID", "jr_1"]
    assert made.argv[14:] == ["--day", "monday", "--flag"]
    assert made.files == {"daily.py": b"s3://bucket/scripts/daily.py"}


def test_a_shell_job_gets_its_own_arguments_only():
    made = command({"--day": "monday", "--additional-python-modules": "a==1,b"}, kind="pythonshell")
    assert made.argv[1:7] == ["-m", "gluepot.service.launch.python_shell", "a==1,b", "", "", "daily.py"]
    assert made.argv[7:] == [
        *("--job-bookmark-option", "job-bookmark-disable", "--job-language", "python"),
        *("--scriptLocation", "s3://bucket/scripts/daily.py"),
        *("--day", "monday", "--additional-python-modules", "a==1,b"),
    ]


def test_a_shell_job_may_have_another_value_of_what_every_one_gets():
    made = command(
        {"--job-language": "other", "--scriptLocation": "/new.py", "--extra-py-files": "a.egg"}, kind="pythonshell"
    )
    assert made.argv[3:7] == ["", "", "a.egg", "new.py"]
    assert made.argv[7:] == [
        *("--job-bookmark-option", "job-bookmark-disable", "--job-language", "other"),
        *("--scriptLocation", "/new.py", "--extra-py-files", "a.egg"),
    ]


def test_nobody_else_chooses_a_runs_names():
    made = command({"--JOB_NAME": "other", "--JOB_RUN_ID": "jr_other"})
    assert made.argv.count("--JOB_NAME") == 1
    assert "other" not in made.argv


def test_an_argument_may_name_another_script():
    made = command({"--scriptLocation": "/tests/new.py"})
    assert made.files == {"new.py": b"/tests/new.py"}
    assert "--scriptLocation" not in made.argv


def test_the_cause_of_a_failure_is_the_last_sentence_of_the_log():
    log = "error: an earlier one\n{}\nerror: ValueError: no such day\nRun again with -v for the stack trace.\n"
    assert said(log) == "ValueError: no such day"
    assert said("Traceback\n") == ""


def test_a_run_finds_the_service_and_keeps_the_keys_of_the_data():
    given = {"AWS_ACCESS_KEY_ID": "data", "AWS_ENDPOINT_URL_GLUE": "http://elsewhere", "GLUEPOT_METRICS_PORT": "9400"}
    found = run_environment(given, "http://here", "us-east-1", KeyPair("own", "secret"))
    assert (found["AWS_ENDPOINT_URL_GLUE"], found["AWS_ACCESS_KEY_ID"]) == ("http://here", "data")
    assert found["GLUEPOT_METRICS_PORT"] == "0"
    assert "GLUEPOT_METRICS_PORT" not in run_environment({}, "http://here", "us-east-1", KeyPair("own", "secret"))


def test_on_a_cluster_a_run_asks_for_the_workers_of_its_job():
    definition = {"GlueVersion": "4.0", "Command": {"Name": "glueetl", "ScriptLocation": "/daily.py"}}
    for size, kind, workers in (
        ({"WorkerType": "G.2X", "NumberOfWorkers": 5}, "G.2X", "5"),
        ({"MaxCapacity": 3.0}, "G.1X", "3"),
        ({}, "G.1X", "10"),
    ):
        run = Run(1, "jr_1", "daily", State.STARTING, {**definition, **size}, {})
        options = command_of(run, str.encode, "spark://a:7077").argv[6:12]
        assert options == ["--master", "spark://a:7077", "--worker-type", kind, "--number-of-workers", workers]


def test_a_shell_job_runs_here_whatever_the_master():
    definition = {"Command": {"Name": "pythonshell", "ScriptLocation": "/daily.py"}}
    run = Run(1, "jr_1", "daily", State.STARTING, definition, {})
    assert command_of(run, str.encode, "spark://a:7077") == command_of(run, str.encode)


def test_launcher_and_master_fit_together():
    assert master_of("process", None) is None
    assert master_of("spark-submit", "yarn") == "yarn"
    for launcher, master, reason in (
        ("process", "yarn", "add --launcher spark-submit"),
        ("spark-submit", None, "needs --master"),
        ("spark-submit", "spark://a", "write spark://HOST:PORT"),
    ):
        with pytest.raises(ConfigError, match=reason):
            master_of(launcher, master)


@pytest.mark.parametrize("name", ["modules.zip", "modules.egg"])
def test_an_archive_that_is_none_fails_a_shell_job_before_its_script(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"PK\x03\x04, and no more")
    with pytest.raises(SystemExit, match=r"--extra-py-files has '.*', which is no ZIP archive"):
        python_shell.main(["", "", str(tmp_path / name), "job.py"], {})


@pytest.mark.parametrize("kind", ["glueetl", "pythonshell"])
def test_an_argument_that_no_process_can_be_given_is_the_cause_of_the_failure(kind):
    with pytest.raises(ConfigError, match="An argument has the character NUL"):
        command({"--day": "mon\0day"}, kind=kind)
