import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awsglue.utils import GlueArgumentError, getResolvedOptions
from gluepot.core.errors import ConfigError
from gluepot.core.glue_version import current_glue_version
from gluepot.streaming.query import session

SCRIPT = "job.py"
ALWAYS_THERE = {
    "job_bookmark_option": "job-bookmark-disable",
    "job_bookmark_from": None,
    "job_bookmark_to": None,
    "JOB_ID": None,
    "JOB_RUN_ID": None,
    "SECURITY_CONFIGURATION": None,
    "encryption_type": None,
    "enable_data_lineage": None,
    "TempDir": None,
    "RedshiftTempDir": None,
}


@pytest.fixture(autouse=True)
def _newest_glue(monkeypatch):
    monkeypatch.delenv("GLUEPOT_GLUE_VERSION", raising=False)


def resolve(*tokens, names=(), **more):
    return getResolvedOptions([SCRIPT, *tokens], list(names), **more)


def test_these_keys_are_always_there():
    assert resolve() == ALWAYS_THERE


def test_a_named_argument_is_found_among_unknown_ones():
    values = resolve("--other", "x", "--JOB_NAME", "clicks", "--flag", names=["JOB_NAME"])
    assert values == {**ALWAYS_THERE, "JOB_NAME": "clicks"}


def test_job_name_is_absent_unless_asked_for():
    assert "JOB_NAME" not in resolve("--JOB_NAME", "clicks")


def test_the_first_element_is_the_script_and_no_argument():
    with pytest.raises(GlueArgumentError):
        getResolvedOptions(["--JOB_NAME=clicks"], ["JOB_NAME"])


def test_a_missing_argument_is_an_error_and_no_exit():
    with pytest.raises(GlueArgumentError) as missing:
        resolve("--JOB_NAME", "clicks", names=["JOB_NAME", "table", "topic"])
    assert str(missing.value) == "the following arguments are required: --table, --topic"


def test_a_missing_value_is_an_error():
    with pytest.raises(GlueArgumentError, match="argument --table: expected one argument"):
        resolve("--table", names=["table"])


def test_asking_for_help_does_not_end_the_process():
    assert resolve("--help", "-h") == ALWAYS_THERE


@pytest.mark.parametrize("tokens", [("--table", "t"), ("--table=t",), ("--table", "s", "--table", "t")])
def test_both_spellings_work_and_the_last_of_a_repeated_key_wins(tokens):
    assert resolve(*tokens, names=["table"])["table"] == "t"


def test_a_value_that_begins_with_dashes_needs_the_equals_sign():
    assert resolve("--conf=--x", names=["conf"])["conf"] == "--x"
    with pytest.raises(GlueArgumentError):
        resolve("--conf", "--x", names=["conf"])


def test_an_empty_value_is_a_value():
    assert resolve("--table", "", names=["table"])["table"] == ""


def test_hyphens_become_underscores_in_the_key():
    assert resolve("--my-arg", "v", names=["my-arg"])["my_arg"] == "v"


@given(st.text(st.characters(blacklist_categories=["Cs"])).filter(lambda text: not text.startswith("-")))
def test_any_value_arrives_unchanged(value):
    assert resolve("--table", value, names=["table"])["table"] == value
    assert resolve(f"--table={value}", names=["table"])["table"] == value


@pytest.mark.parametrize("given_name", ["TempDir", "RedshiftTempDir"])
def test_both_temp_dirs_mirror_each_other(given_name):
    values = resolve(f"--{given_name}", "s3://b/tmp")
    assert values["TempDir"] == values["RedshiftTempDir"] == "s3://b/tmp"


def test_two_temp_dirs_stay_two():
    values = resolve("--TempDir", "a", "--RedshiftTempDir", "b")
    assert (values["TempDir"], values["RedshiftTempDir"]) == ("a", "b")


@pytest.mark.parametrize("name", ["TempDir", "RedshiftTempDir"])
def test_a_temp_dir_asked_for_is_still_not_required(name):
    assert resolve(names=[name])[name] is None


@pytest.mark.parametrize(
    ("legacy", "option"),
    [
        ("continuation-enabled", "job-bookmark-enable"),
        ("continuation-readonly", "job-bookmark-pause"),
        ("continuation-ignore", "job-bookmark-disable"),
    ],
)
def test_the_legacy_continuation_option_is_translated_and_gone(legacy, option):
    values = resolve("--continuation-option", legacy)
    assert values["job_bookmark_option"] == option
    assert "continuation_option" not in values


@pytest.mark.parametrize(
    "tokens",
    [
        ("--job-bookmark-option", "sometimes"),
        ("--continuation-option", "on"),
        ("--encryption-type", "aws:kms"),
    ],
)
def test_values_outside_the_choices_are_refused(tokens):
    with pytest.raises(GlueArgumentError, match="invalid choice"):
        resolve(*tokens)


@pytest.mark.parametrize("name", ["continuation-option", "job-bookmark-option", "job-bookmark-from", "job-bookmark-to"])
def test_reserved_names_are_refused(name):
    with pytest.raises(RuntimeError, match=f"^Using reserved arguments {name}$"):
        resolve(names=["JOB_NAME", name])


@pytest.mark.parametrize(
    "name", ["JOB_ID", "JOB_RUN_ID", "SECURITY_CONFIGURATION", "encryption-type", "enable-data-lineage"]
)
def test_names_glue_adds_itself_conflict_as_in_glue(name):
    with pytest.raises(argparse.ArgumentError, match="conflicting option string"):
        resolve(names=[name])


PAUSE = ("--job-bookmark-option", "job-bookmark-pause")


@pytest.mark.parametrize(("one", "missing"), [("from", "to"), ("to", "from")])
def test_a_pause_with_half_a_range_names_the_missing_half(one, missing):
    with pytest.raises(RuntimeError) as refused:
        resolve(*PAUSE, f"--job-bookmark-{one}", "jr_1")
    assert str(refused.value) == f"Missing option or value for --job-bookmark-{missing}"


def test_an_empty_half_of_a_range_is_missing():
    with pytest.raises(RuntimeError, match="Missing option or value for --job-bookmark-to"):
        resolve(*PAUSE, "--job-bookmark-from=jr_1", "--job-bookmark-to=")


def test_a_range_without_a_pause_is_refused():
    with pytest.raises(RuntimeError) as refused:
        resolve("--job-bookmark-from", "jr_1", "--job-bookmark-to", "jr_2")
    assert str(refused.value) == "Invalid option(s)--job-bookmark-from --job-bookmark-to"


def test_a_pause_takes_a_whole_range_or_none():
    values = resolve(*PAUSE, "--job-bookmark-from", "jr_1", "--job-bookmark-to", "jr_2")
    assert (values["job_bookmark_from"], values["job_bookmark_to"]) == ("jr_1", "jr_2")
    assert resolve(*PAUSE)["job_bookmark_option"] == "job-bookmark-pause"


def test_prefixes_are_refused_since_glue_6():
    with pytest.raises(GlueArgumentError, match="the following arguments are required: --JOB_NAME"):
        resolve("--JOB_N", "clicks", names=["JOB_NAME"])


def test_prefixes_are_accepted_on_request():
    assert resolve("--JOB_N", "clicks", names=["JOB_NAME"], allow_abbrev=True)["JOB_NAME"] == "clicks"


@pytest.mark.parametrize("version", ["3.0", "4.0", "5.0", "5.1"])
def test_prefixes_are_accepted_before_glue_6(monkeypatch, version):
    monkeypatch.setenv("GLUEPOT_GLUE_VERSION", version)
    assert resolve("--JOB_N", "clicks", names=["JOB_NAME"])["JOB_NAME"] == "clicks"


def test_an_ambiguous_prefix_is_refused(monkeypatch):
    monkeypatch.setenv("GLUEPOT_GLUE_VERSION", "5.0")
    with pytest.raises(GlueArgumentError, match="ambiguous option: --table"):
        resolve("--table", "t", names=["table_in", "table_out"])


def test_an_unknown_glue_version_is_refused_with_those_there_are(monkeypatch):
    monkeypatch.setenv("GLUEPOT_GLUE_VERSION", "7.0")
    with pytest.raises(ConfigError, match=r"'7\.0' is not known; use one of 3\.0, 4\.0, 5\.0, 5\.1, 6\.0"):
        resolve()


def test_the_newest_glue_version_is_the_default():
    assert current_glue_version({}) == current_glue_version({"GLUEPOT_GLUE_VERSION": ""}) == "6.0"


def test_what_was_resolved_is_kept_for_relationalize(monkeypatch):
    monkeypatch.setattr(session.current(), "arguments", {"JOB_NAME": "clicks"})
    resolve("--TempDir", "s3://b/tmp")
    assert session.current().arguments["TempDir"] == "s3://b/tmp"
    assert session.current().arguments["JOB_NAME"] == "clicks"
