"""gluepot.toml: its values on the command line, their origins, its schema; no Spark needed."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from cyclopts import MissingArgumentError

from gluepot.cli.main import app, outcome, project_config
from gluepot.cli.servers import Wanted, _named
from gluepot.core.errors import ConfigError
from gluepot.job.options import DEFAULT_OPTIONS, RunOptions
from gluepot.job.project import PAIRS, key_of, parsed, schema
from tests.repository import REPOSITORY

FILE = """\
[run]
script = "job.py"
job-name = "orders"
max-batches = 3
metrics-port = 9400
aws = true
after = ["first", "second"]
connections = "broker.yaml"

[run.arguments]
TempDir = "/temp"
limit = 5
dry = true
db_password = "hunter2"

[run.stream-options]
maxOffsetsPerTrigger = 5
startingOffsets = "latest"

[servers.kafka]
port = 29092
topics = { orders = 2 }

[servers.s3]
buckets = ["lake"]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLUEPOT_PROJECT", raising=False)

    def write(text: str = FILE) -> Path:
        (tmp_path / "gluepot.toml").write_text(text)
        return tmp_path / "gluepot.toml"

    return write


def run_with(*tokens: str):
    """Return script, arguments and options that `gluepot run` would run with."""
    _, bound, _ = app.parse_args(["run", *tokens], exit_on_error=False, print_error=False)
    return str(bound.arguments["script"]), bound.arguments.get("arguments", ()), bound.arguments.get("options")


ARGUMENTS = ("--JOB_NAME", "orders", "--TempDir", "/temp", "--limit", "5", "--dry", "true", "--db_password", "hunter2")


def test_a_run_without_flags_does_what_the_file_says(project):
    project()
    assert run_with() == (
        "job.py",
        ARGUMENTS,
        replace(
            DEFAULT_OPTIONS,
            max_batches=3,
            metrics_port=9400,
            aws=True,
            after=["first", "second"],
            connections=Path("broker.yaml"),
            stream_option=["maxOffsetsPerTrigger=5", "startingOffsets=latest"],
        ),
    )
    assert project_config.set_by_file()["max_batches"] == "gluepot.toml"


def test_a_flag_wins_over_a_variable_and_this_over_the_file(project, monkeypatch):
    project()
    monkeypatch.setenv("GLUEPOT_METRICS_PORT", "9500")
    assert run_with()[2].metrics_port == 9500
    _, arguments, options = run_with(
        "--metrics-port", "9600", "--no-aws", "--after", "x", "--stream-option", "startingOffsets=earliest",
        "--", "--limit=7", "--more", "y",
    )  # fmt: skip
    assert (options.metrics_port, options.aws, options.after) == (9600, False, ["x"])
    assert options.stream_options == {"maxOffsetsPerTrigger": "5", "startingOffsets": "earliest"}
    assert arguments == (*ARGUMENTS[:4], *ARGUMENTS[6:], "--limit=7", "--more", "y")
    assert "metrics_port" not in project_config.set_by_file()


def test_the_arguments_of_the_file_are_for_no_other_script(project):
    project()
    script, arguments, options = run_with("other.py", "--", "--limit", "7")
    assert (script, arguments, options.max_batches) == ("other.py", ("--limit", "7"), 3)
    assert run_with("./job.py")[1] == ARGUMENTS


def test_a_file_of_another_folder_is_named_by_a_variable_and_its_paths_lie_beside_it(project, tmp_path, monkeypatch):
    project()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(MissingArgumentError):
        run_with()
    for named in (tmp_path, tmp_path / "gluepot.toml"):
        monkeypatch.setenv("GLUEPOT_PROJECT", str(named))
        script, _, options = run_with()
        assert (Path(script), options.connections) == (tmp_path / "job.py", tmp_path / "broker.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEPOT_PROJECT", "")
    assert run_with("job.py")[1] == ()
    monkeypatch.setenv("GLUEPOT_PROJECT", "/nowhere/gluepot.toml")
    with pytest.raises(ConfigError, match=r"There is no project file /nowhere/gluepot\.toml; correct GLUEPOT_PROJECT"):
        run_with()


def shown(capsys, *tokens: str) -> dict[str, tuple[object, str]]:
    assert outcome(app, ["config", "show", "--output", "json", *tokens]) == 0
    return {one["key"]: (one["value"], one["origin"]) for one in json.loads(capsys.readouterr().out)}


def test_each_value_is_shown_with_its_origin_and_without_secrets(project, monkeypatch, capsys):
    project()
    monkeypatch.setenv("GLUEPOT_PUSH_GATEWAY", "http://push")
    found = shown(capsys, "--max-batches", "4", "--metrics-token", "env:TOKEN", "--", "--limit", "6")
    assert found["script"] == ("job.py", "gluepot.toml")
    assert found["max-batches"] == ("4", "command line")
    assert found["push-gateway"] == ("http://push", "GLUEPOT_PUSH_GATEWAY")
    assert (found["metrics-token"][0], found["arguments.db_password"][0]) == ("env:TOKEN", "***")
    assert found["arguments.limit"] == ("6", "command line")
    assert found["arguments.JOB_NAME"] == ("orders", "gluepot.toml")
    assert found["stream-options.startingOffsets"] == ("latest", "gluepot.toml")
    assert found["servers.kafka.topics"] == (["orders=2"], "gluepot.toml")
    assert "master" not in found
    assert shown(capsys, "--default")["master"] == ("local[*]", "default")


def test_without_a_file_nothing_is_set(project, capsys):
    assert outcome(app, ["config", "show"]) == 0
    assert capsys.readouterr().out == "Nothing is set: there is no gluepot.toml here. `gluepot init` writes one.\n"


def test_the_servers_of_the_file_are_started_together(project):
    assert _named() == []
    project()
    assert _named() == [Wanted("kafka", 29092, topics={"orders": 2}), Wanted("s3", buckets=["lake"])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[run]\nscrip = 'a'", "gluepot.toml has an unknown key run.scrip. Did you mean 'script'?"),
        ("[run]\nmax_batches = 1", "gluepot.toml has an unknown key run.max_batches. Did you mean 'max-batches'?"),
        ("[servers.kafka]\nprt = 1", "gluepot.toml has an unknown key servers.kafka.prt. Did you mean 'port'?"),
        ("[jobs]", "gluepot.toml has an unknown key jobs. Known are run, servers."),
        ("[run]\nmax-batches = 'x'", "gluepot.toml sets run.max-batches to 'x'. Input should be a valid integer."),
        ("[run]\nmax-batches = true", "gluepot.toml sets run.max-batches to True. Input should be a valid integer."),
        (
            "[run]\non-batch-failure = 'stop'",
            "gluepot.toml sets run.on-batch-failure to 'stop'. Input should be 'fail' or 'quarantine'.",
        ),
        ("[servers]\nkafka = true", "gluepot.toml sets servers.kafka to True. Write it as a table, [servers.kafka]."),
        (
            "[servers.kafka.topics]\norders = 0",
            "gluepot.toml sets servers.kafka.topics.orders to 0. Input should be greater than or equal to 1.",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence_that_names_the_key(text, sentence):
    with pytest.raises(ConfigError) as refused:
        parsed(tomllib.loads(text), "gluepot.toml")
    assert str(refused.value) == sentence


def test_a_file_that_is_not_toml_is_a_usage_error(project, capsys):
    project("[run\n")
    assert outcome(app, ["run"]) == 2
    assert capsys.readouterr().err.startswith("error: gluepot.toml is not TOML (Expected ']'")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("max-batches = 0", "gluepot.toml: max-batches is 0; use 1 or more."),
        ("worker-type = 'G.9X'\nnumber-of-workers = 2", "gluepot.toml: worker-type is 'G.9X'; use one of "),
    ],
)
def test_a_value_out_of_its_range_names_the_file(project, capsys, line, sentence):
    project(f"[run]\nscript = 'job.py'\n{line}\n")
    assert outcome(app, ["run"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {sentence}")


def test_half_of_a_pair_of_options_may_be_a_flag(project):
    project("[run]\nscript = 'job.py'\nworker-type = 'G.1X'\n")
    assert run_with("--number-of-workers", "3")[2].worker_type == "G.1X"


def test_a_file_that_others_may_change_is_warned_about(project, monkeypatch):
    project().chmod(0o666)
    told = []
    monkeypatch.setattr(
        "gluepot.cli.project.get_logger", lambda _: SimpleNamespace(warning=lambda *a, **k: told.append((a, k)))
    )
    run_with()
    ((event,), about), *_ = told
    assert (event, "chmod" in about["hint"]) == ("project_file_writable_by_others", True)


def test_each_option_of_a_run_is_a_key_with_a_description():
    keys = schema()["$defs"]["Run"]["properties"]
    assert {key_of(one.name) for one in fields(RunOptions)} | {"script", "job-name", "arguments"} == set(keys)
    assert [key for key, about in keys.items() if not about["description"]] == []
    assert set(PAIRS) <= {one.name for one in fields(RunOptions)}


def test_the_published_schema_is_current_and_holds_for_a_file():
    text = (REPOSITORY / "docs" / "gluepot.schema.json").read_text()
    assert json.loads(text) == schema(), "run python -m scripts.documents"
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(tomllib.loads(FILE), schema())


def test_the_file_of_the_guide_is_accepted():
    guide = (REPOSITORY / "docs" / "project-file.md").read_text()
    parsed(tomllib.loads(guide.partition("```toml\n")[2].partition("```")[0]), "the guide")
