"""Mistakes on the command line that cost no Spark: one sentence each, with the value and the next step."""

import subprocess
import sys
from pathlib import Path

import pytest

from gluepot.cli.main import main

SCRIPT = "job.py"
CATALOG_IMPORT = "`gluepot catalog import` reads one in, and `gluepot catalog create-database` makes one."


@pytest.fixture
def mistaken(tmp_path, monkeypatch, capsys):
    """Return a call of a command that fails: its exit code, and what it printed to standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    Path(SCRIPT).write_text("")

    def call(*tokens: str) -> tuple[object, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(tokens))
        return ended.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (["run"], "`gluepot run` needs SCRIPT. See `gluepot run --help`."),
        (["run", "none.py"], "There is no script none.py; give the path of a Python file."),
        (["run", SCRIPT, "--connections", "c.yaml"], "There is no connections file c.yaml; correct --connections."),
        (
            ["run", SCRIPT, "--metrics-port", "70000"],
            'Invalid value "70000" for --metrics-port. Must be <= 65535. See `gluepot run --help`.',
        ),
        (
            ["run", SCRIPT, "--JOB_NAME", "x"],
            "Unknown option: --JOB_NAME. Put the script's own arguments after `--`.",
        ),
        (
            ["up", "kafka", "--port", "99999"],
            'Invalid value "99999" for --port. Must be <= 65535. See `gluepot up --help`.',
        ),
        (
            ["up", "kafka", "--stream", "clicks"],
            "--stream is for kinesis, not for kafka; leave it out, or `gluepot up kinesis`.",
        ),
        (
            ["up", "kafka", "--topic", "clicks", "--partitions", "0"],
            'Invalid value "0" for --partitions. Must be >= 1. See `gluepot up --help`.',
        ),
        (
            ["topic", "list"],
            (
                "No cluster is given, and no development broker runs; give --bootstrap HOST:PORT or --connection NAME,"
                " or start a broker with `gluepot up kafka`."
            ),
        ),
        (
            ["topic", "list", "--bootstrap", "a:1", "--connection", "b"],
            "--bootstrap a:1 and --connection b both name a cluster; leave one of them out.",
        ),
        (["topic", "create", "t", "--config", "a", "--bootstrap", "a:1"], "--config is 'a'; write NAME=VALUE."),
        (
            ["topic", "consume", "t", "--since", "yesterday", "--bootstrap", "a:1"],
            "--since is 'yesterday'; use a time such as 2026-01-31T12:00:00Z.",
        ),
        (
            ["topic", "consume", "t", "--latest", "--bootstrap", "a:1"],
            "--latest leaves nothing to print without --follow; add it.",
        ),
        (["catalog", "create-table", "web"], "'web' is not the name of a table; write database.table."),
        (["catalog", "drop", "web"], "The catalog has no database 'web'; it has none. {catalog_import}"),
        (
            ["--install-completion", "--shell", "tcsh"],
            (
                'Invalid value "tcsh" for --shell. Choose from: "bash", "zsh", "fish". See `gluepot'
                " --install-completion --help`."
            ),
        ),
        (["doctor", "now"], "`gluepot doctor` does not take 'now'. See `gluepot doctor --help`."),
        (["init", "."], "job.py exists already; give a new folder, as in `gluepot init my-project`."),
        (
            ["config", "show", "--max-batchs", "3"],
            ("Unknown option: --max-batchs. Did you mean --max-batches? Put the script's own arguments after `--`."),
        ),
        (["serve", "--port", "-1"], 'Invalid value "-1" for --port. Must be >= 0. See `gluepot serve --help`.'),
        (["status", "all", "now"], "`gluepot status` does not take 'all' 'now'. See `gluepot status --help`."),
        (["quality", "check"], "`gluepot quality check` needs DATA. See `gluepot quality check --help`."),
        (
            ["dlq", "replay", "t"],
            "`gluepot dlq replay` needs --topic. See `gluepot dlq replay --help`.",
        ),
        (["advise", "none"], "There is no advice log none; `gluepot run --advice-log none` writes one."),
        (
            ["table", "files", "."],
            "{here} is no table: no batch was published there; check the path, or wait for a batch",
        ),
        (
            ["checkpoint", "show", "none"],
            "{here}/none is empty or does not exist; give the checkpointLocation of a query that has been started.",
        ),
        (
            ["checkpoint", "doctor", "."],
            (
                "{here} is no checkpoint: it has neither metadata nor offsets nor commits; give the checkpointLocation"
                " of the script."
            ),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_answered_in_one_sentence(mistaken, tmp_path, tokens, sentence):
    assert mistaken(*tokens) == (2, f"error: {sentence.format(here=tmp_path, catalog_import=CATALOG_IMPORT)}\n")


@pytest.mark.parametrize("tokens", [["run"], ["up"], ["config", "show"]], ids=" ".join)
def test_a_project_file_with_an_unknown_key_is_refused_by_all_that_read_it(mistaken, tokens):
    Path("gluepot.toml").write_text("[run]\nscrip = 'job.py'\n")
    sentence = "gluepot.toml has an unknown key run.scrip. Did you mean 'script'?"
    assert mistaken(*tokens) == (2, f"error: {sentence}\n")


def test_a_connection_that_breaks_is_no_reader_that_has_seen_enough(mistaken, tmp_path):
    Path(SCRIPT).write_text("raise BrokenPipeError(32, 'Broken pipe')")
    code, said = mistaken("run", SCRIPT)
    assert (code, said.splitlines()[-2]) == (1, "error: BrokenPipeError: [Errno 32] Broken pipe")


def test_the_root_of_tables_is_no_place_of_dead_letters(mistaken, tmp_path):
    for table in ("clicks", "orders"):
        (tmp_path / "lake" / table / "_rejects").mkdir(parents=True)
        (tmp_path / "lake" / table / "_rejects" / "run-1.rejects").touch()
    sentence = "lake holds tables and is none itself; give one of them: clicks, orders."
    assert mistaken("dlq", "list", "lake") == (2, f"error: {sentence}\n")


def test_a_state_folder_that_cannot_be_made_is_named(mistaken, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "file" / "state"))
    sentence = (
        f"The folder {tmp_path}/file/state of the ledger cannot be made (Not a directory); let GLUEPOT_STATE name a"
        " folder that you may write to, or GLUEPOT_LEDGER a database."
    )
    assert mistaken("bookmarks", "list") == (2, f"error: {sentence}\n")


def test_a_reader_that_has_seen_enough_ends_a_command_without_a_word():
    # A pipe holds 64 KiB, and the rest of the text finds nobody.
    many = ["examples/clickstream.py"] * 400
    command = subprocess.Popen(
        [sys.executable, "-m", "gluepot", "check", *many], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    command.stdout.readline()
    command.stdout.close()
    assert command.stderr is not None
    assert (command.stderr.read(), command.wait()) == (b"", 141)
