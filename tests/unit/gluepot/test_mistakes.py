"""Mistakes on the command line that cost no Spark: one sentence each, with the value and the next step."""

import subprocess
import sys
from pathlib import Path

import pytest

from gluepot.cli.main import main
from scripts import reference
from tests.mistakes import ELSEWHERE, FILES, OF_COMMANDS
from tests.repository import REPOSITORY

SCRIPT = "job.py"
AGAIN = "Run again with -v for the stack trace."


@pytest.fixture
def mistaken(tmp_path, monkeypatch, capsys):
    """Return a call of a command that fails: its exit code, and what it printed to standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    for name, text in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)

    def call(*tokens: str) -> tuple[object, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(tokens))
        return ended.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize("mistake", OF_COMMANDS, ids=lambda one: one.did)
def test_a_mistake_is_answered_in_one_sentence(mistaken, tmp_path, mistake):
    code, said = mistaken(*mistake.tokens)
    *lines, sentence = (line for line in said.splitlines() if line != AGAIN)
    assert (code, sentence) == (mistake.code, f"error: {mistake.said.format(here=tmp_path)}")
    assert lines == list(mistake.lines)


def test_there_are_sixty_kinds_and_each_is_another_one():
    kinds = [one.did for one in (*OF_COMMANDS, *ELSEWHERE)]
    assert len(kinds) >= 60
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("mistake", ELSEWHERE, ids=lambda one: one.did)
def test_a_mistake_that_costs_more_has_a_test_elsewhere(mistake):
    file, _, name = mistake.test.partition("::")
    assert f"def {name}(" in (REPOSITORY / file).read_text()
    assert mistake.said in {"", *(message for _, message in reference.messages())}


@pytest.mark.parametrize("tokens", [["run"], ["up"], ["config", "show"]], ids=" ".join)
def test_a_project_file_with_an_unknown_key_is_refused_by_all_that_read_it(mistaken, tokens):
    Path("gluepot.toml").write_text("[run]\nscrip = 'job.py'\n")
    sentence = "gluepot.toml has an unknown key run.scrip. Did you mean 'script'?"
    assert mistaken(*tokens) == (2, f"error: {sentence}\n")


def test_a_connection_that_breaks_is_no_reader_that_has_seen_enough(mistaken, tmp_path):
    Path(SCRIPT).write_text("raise BrokenPipeError(32, 'Broken pipe')")
    code, said = mistaken("run", SCRIPT)
    assert (code, said.splitlines()[-2]) == (1, "error: BrokenPipeError: [Errno 32] Broken pipe")


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
