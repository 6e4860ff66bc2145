"""`gluepot run --stream-option`: what the command line makes of it."""

import pytest

from gluepot.cli.main import USAGE, outcome
from gluepot.cli.main import app as gluepot


@pytest.mark.parametrize("text", ["maxOffsetsPerTrigger", "=5", ""])
def test_an_option_without_name_or_value_is_refused_before_anything_starts(tmp_path, capsys, text):
    assert outcome(gluepot, ["run", str(tmp_path / "job.py"), "--stream-option", text]) == USAGE
    assert "write NAME=VALUE" in capsys.readouterr().err
