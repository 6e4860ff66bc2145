"""What a script is given for a run."""

from pathlib import Path

import pytest

from gluepot.bench.arguments import arguments_of_run, asked_names
from gluepot.cli.main import USAGE, outcome
from gluepot.cli.main import app as gluepot
from gluepot.core.errors import ConfigError

CLICKS = Path(__file__).parents[3] / "examples" / "clickstream.py"


def test_the_names_a_script_asks_for_are_read_from_it():
    assert asked_names(CLICKS.read_text()) == ("JOB_NAME", "TempDir", "output_path")
    assert asked_names("from awsglue import utils\nutils.getResolvedOptions(a, names + ['x'])") == ("x",)


def test_places_are_made_up_in_the_folder_of_the_run():
    given = arguments_of_run(("JOB_NAME", "TempDir", "output_path"), (), Path("/r"))
    assert given == ["--JOB_NAME", "bench", "--TempDir", "/r/temp", "--output_path", "/r/output_path"]


def test_what_the_user_gives_is_kept_with_the_folder_of_the_run_in_it():
    given = arguments_of_run(("output_path", "mode"), ("--output_path", "{run}/a", "--mode=fast"), Path("/r"))
    assert given == ["--JOB_NAME", "bench", "--TempDir", "/r/temp", "--output_path", "/r/a", "--mode=fast"]


def test_a_name_that_is_no_place_must_be_given():
    with pytest.raises(ConfigError, match="asks for --threshold"):
        arguments_of_run(("threshold",), (), Path("/r"))


def test_one_temp_dir_for_all_runs_is_refused():
    with pytest.raises(ConfigError, match="--TempDir"):
        arguments_of_run((), ("--TempDir", "/tmp/mine"), Path("/r"))


@pytest.mark.parametrize(
    "wrong", [["--sla", "soon"], ["--sla", "0s"], ["--rate", "0"], ["--cores", "0"], ["--worker-type", "R.1X"]]
)
def test_wrong_values_are_told_before_a_broker_starts(wrong, capsys):
    assert outcome(gluepot, ["bench", str(CLICKS), *wrong]) == USAGE
    assert capsys.readouterr().err.startswith("error: ")
