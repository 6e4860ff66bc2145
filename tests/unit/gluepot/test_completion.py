"""Shell completion, made by the library of the command line."""

from gluepot.cli.main import app, outcome


def test_completion_is_installed_and_knows_commands_that_are_loaded_late(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert outcome(app, ["--install-completion", "--shell", "bash"]) == 0
    script = tmp_path / ".local/share/bash-completion/completions/gluepot"
    words = script.read_text().replace("--", " ").replace("'", " ").replace('"', " ").split()
    assert {"until-caught-up", "rewind", "consume", "create-table", "if-missing"} <= set(words)
