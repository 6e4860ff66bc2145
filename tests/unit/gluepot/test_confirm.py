import pytest

from gluepot.cli.confirm import agreed
from gluepot.core.errors import ConfigError


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    return lambda answer: monkeypatch.setattr("builtins.input", lambda _question: answer)


def test_with_yes_nobody_is_asked():
    assert agreed("Remove it?", yes=True)


@pytest.mark.parametrize("answer", ["y", "Y", " yes "])
def test_a_person_agrees(terminal, answer):
    terminal(answer)
    assert agreed("Remove it?", yes=False)


@pytest.mark.parametrize("answer", ["", "n", "no", "yess"])
def test_any_other_answer_is_a_no(terminal, answer):
    terminal(answer)
    assert not agreed("Remove it?", yes=False)


def test_without_a_terminal_the_error_names_the_options_that_the_command_has(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(ConfigError, match=r"^Remove it\? No terminal to confirm on: pass --yes, or --dry-run to see"):
        agreed("Remove it?", yes=False)
    with pytest.raises(ConfigError, match=r"pass --yes\.$"):
        agreed("Remove it?", yes=False, has_dry_run=False)
