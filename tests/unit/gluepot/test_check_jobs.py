"""Folders of scripts and dumps of jobs, checked together."""

from __future__ import annotations

import json

import pytest

from gluepot.check import Outcome, check_paths
from gluepot.check.page import as_html, summary
from gluepot.cli.exit_codes import FINDINGS
from gluepot.cli.main import main
from gluepot.core.errors import ConfigError

GOOD = """
from awsglue.context import GlueContext
from awsglue.job import Job
glueContext = GlueContext()
job = Job(glueContext)
job.init("good")
job.commit()
"""
BAD = GOOD + "glueContext.transition_table('d', 't', 'GLACIER')\n"


def definition(name, script="s3://scripts/jobs/good.py", kind="glueetl", **more):
    return {"Name": name, "Command": {"Name": kind, "ScriptLocation": script}, "GlueVersion": "5.0", **more}


@pytest.fixture
def check(tmp_path):
    """Check definitions, with their scripts beside them; the reports by the names of the jobs."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)

    def checked(*jobs):
        dump = tmp_path / "jobs.json"
        dump.write_text(json.dumps({"Jobs": jobs}))
        return {report.job: report for report in check_paths([dump])}

    return checked


def told(report):
    return [(one.line, one.name) for one in report.findings if one.level != "supported"]


def test_a_job_is_judged_by_its_definition_and_its_script(check):
    reports = check(definition("one"), definition("other", "s3://scripts/bad.py"))

    assert (reports["one"].outcome, reports["one"].effort) == (Outcome.UNCHANGED, "nothing")
    assert (reports["other"].outcome, reports["other"].effort) == (Outcome.CHANGES, "1 place to change")


@pytest.mark.parametrize(
    ("more", "what", "outcome"),
    [
        ({"DefaultArguments": {"--encryption-type": "sse-s3"}}, "--encryption-type", Outcome.NOTES),
        (
            {"NonOverridableArguments": {"--python-virtual-env": "s3://x/venv.tar.gz"}},
            "--python-virtual-env",
            Outcome.NOTES,
        ),
        ({"DefaultArguments": {"--job-language": "scala"}}, "DefaultArguments", Outcome.CHANGES),
        ({"DefaultArguments": {"--datalake-formats": "hudi"}}, "no-format", Outcome.LACKING),
        ({"Connections": {"Connections": ["warehouse"]}}, "no-connection", Outcome.LACKING),
        ({"GlueVersion": "2.0"}, "Glue 2.0", Outcome.NOTES),
        ({"SecurityConfiguration": "keys"}, "SecurityConfiguration keys", Outcome.NOTES),
        ({"kind": "pythonshell"}, "pythonshell", Outcome.NOTES),
        ({"kind": "glueray"}, "glueray", Outcome.CHANGES),
        ({"script": "s3://scripts/elsewhere.py"}, "no-script", Outcome.UNKNOWN),
    ],
)
def test_what_of_a_definition_differs_is_told(check, more, what, outcome):
    report = check(definition("job", **more))["job"]

    assert (told(report), report.outcome) == ([(0, what)], outcome)
    assert report.lines()[0].startswith("job job: ")


def test_arguments_that_work_are_not_mentioned(check):
    arguments = {
        "--TempDir": "s3://t",
        "--job-bookmark-option": "job-bookmark-enable",
        "--own": "x",
        "--enable-metrics": "",
    }
    assert told(check(definition("job", DefaultArguments=arguments))["job"]) == []


def test_a_module_that_the_job_brings_is_not_missing(tmp_path):
    (tmp_path / "job.py").write_text(GOOD + "import nosuch_one, nosuch_two, nosuch_three, nosuch_four\n")
    modules = "nosuch-one[x]==1.0,s3://b/nosuch_two-2.0-py3-none-any.whl"
    arguments = {"--additional-python-modules": modules, "--extra-py-files": "s3://b/lib/nosuch_three.py"}
    job = definition("job", "s3://scripts/job.py", DefaultArguments=arguments)
    (tmp_path / "jobs.json").write_text(json.dumps({"Jobs": [job]}))
    (report,) = check_paths([tmp_path / "jobs.json"])
    assert [one.message.split(";")[0] for one in report.findings if one.level != "supported"] == [
        "there is no module nosuch_four here"
    ]


def test_modules_are_no_scripts_and_one_that_is_no_python_does_not_stop_the_others(tmp_path):
    for name, text in {
        "job.py": GOOD + "import helpers\n",
        "helpers.py": "x = 1",
        "deep/old.py": "print 'x'",
        ".hidden/job.py": BAD,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    reports = check_paths([tmp_path])

    assert [report.script for report in reports] == [str(tmp_path / "deep/old.py"), str(tmp_path / "job.py")]
    assert [report.outcome for report in reports] == [Outcome.CHANGES, Outcome.UNCHANGED]
    assert summary(reports) == "2 checked: 1 runs unchanged, 1 needs changes"


def test_a_script_of_a_job_is_not_reported_once_more_for_its_folder(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "jobs.json").write_text(json.dumps({"Job": definition("one")}))

    assert [report.job for report in check_paths([tmp_path / "jobs.json", tmp_path])] == ["one"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("jobs.json", "{", "is not JSON"),
        ("jobs.json", '{"Triggers": []}', "holds no jobs; give what `aws glue get-jobs`"),
        ("jobs.json", "[]", "holds no jobs"),
        ("notes.txt", "x y", "is not a Python script"),
    ],
)
def test_what_holds_nothing_to_check_is_a_sentence(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=said):
        check_paths([tmp_path / name])


def test_an_empty_folder_and_no_path_at_all_are_sentences(tmp_path, capsys):
    for given in ([str(tmp_path)], []):
        with pytest.raises(SystemExit) as ended:
            main(["check", *given])
        assert ended.value.code == 2
    assert capsys.readouterr().err.count("error: There is ") == 2


def test_the_page_names_each_script_and_escapes_what_scripts_say(tmp_path, capsys):
    (tmp_path / "job.py").write_text(
        GOOD + "glueContext.create_dynamic_frame.from_options('<b>', {}, transformation_ctx='r')\n"
    )

    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path), "--output", "html"])

    page = capsys.readouterr().out
    assert ended.value.code == FINDINGS
    assert "needs changes" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.strip() == as_html(check_paths([tmp_path])).strip()


def test_json_has_outcome_and_effort(check):
    report = check(definition("one"))["one"].to_json()
    assert (report["outcome"], report["effort"], report["job"]) == ("runs unchanged", "nothing", "one")


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (
            "create_dynamic_frame.from_options('s3', {'paths': [], 'groupfiles': '1'}, transformation_ctx='r')",
            "groupFiles",
        ),
        (
            "create_data_frame.from_options('kafka', {'topicname': 't', 'kafka.x': 1, 'startingOffset': 'e'})",
            "startingOffsets",
        ),
        ("create_data_frame.from_options('kinesis', {'streamArm': 'a'})", "streamARN"),
        ("create_dynamic_frame.from_options('dynamodb', {'dynamodb.input.table': 't'})", "dynamodb.input.tableName"),
        ("create_dynamic_frame.from_options('postgresql', {'dbTables': 't'}, transformation_ctx='r')", "dbtable"),
        (
            "create_dynamic_frame.from_options('s3', {'paths': []}, 'csv', {'seperator': ';', 'withHeader': True}, 'r')",
            "separator",
        ),
        (
            "create_dynamic_frame.from_options('s3', {'paths': []}, 'xml', {'rowTag': 'r', 'attributeprefix': ''}, 'r')",
            "attributePrefix",
        ),
    ],
)
def test_an_option_that_means_nothing_is_named_with_what_was_meant(tmp_path, call, hint):
    (tmp_path / "job.py").write_text(f"{GOOD}glueContext.{call}\n")
    (report,) = check_paths([tmp_path / "job.py"])
    (found,) = [one for one in report.findings if one.name == "option-ignored"]
    assert hint in found.message
