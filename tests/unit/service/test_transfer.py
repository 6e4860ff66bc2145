"""`gluepot import` and `gluepot export`: what AWS's command line printed is created here, and printed again."""

import json
import re
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest

from gluepot.cli.transfer import export_, import_
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.service.transfer.documents import PLURALS, read
from gluepot.service.transfer.exporting import EXPORTS, export
from gluepot.service.transfer.fields import changed, fields, fitting, general
from gluepot.service.transfer.importing import import_dump
from gluepot.service.transfer.kinds import KINDS
from gluepot.service.transfer.local import local_target
from gluepot.service.wire.shapes import model_of
from tests.unit.service.glue_dumps import DOCUMENTS, JOBS, SCHEMA, TRIGGERS, VERSIONS, full_documents
from tests.unit.service.world import NOON

DOCUMENT = Path(__file__).parents[3] / "docs" / "service.md"
# The request's part that holds the thing.
WRAPPERS = ("ConnectionInput", "DatabaseInput", "TableInput", "PartitionInput", "FunctionInput")


@pytest.fixture
def environ(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "service.db")
    return {"GLUEPOT_STATE": str(tmp_path)}


@pytest.fixture
def target(environ):
    return local_target(environ, FakeClock(NOON))


def imported(target, documents, *, update=False):
    return {one.kind: one for one in import_dump(read(documents.items()), target, update=update)}


def moved(target, documents):
    """Import documents and export everything; return, by kind, the number of fields and the paths of changed ones."""
    outcomes = imported(target, documents)
    assert [(one.kind, one.refused) for one in outcomes.values() if one.refused] == []
    printed = json.loads(json.dumps(export(list(EXPORTS), target.operate)))
    found = {}
    for kind, things in read(
        [("export", {name: some for name, some in printed.items() if name != "Schemas"})]
    ).things.items():
        found[kind] = {KINDS[kind].title(one): one for one in things}
    found["schemas"] = {KINDS["schemas"].title(one): one for one in printed["Schemas"]}
    measured = {}
    for kind, things in read(documents.items()).things.items():
        count, differing = 0, Counter()
        for thing in things:
            again = found[kind][KINDS[kind].title(thing)]
            number, paths = changed(model_of("glue").shape_for(KINDS[kind].shape), thing, again)
            count, differing = count + number, differing + Counter(map(general, paths))
        assert (outcomes[kind].fields, outcomes[kind].not_kept) == (count, differing)
        measured[kind] = (count, differing)
    return measured


def share(measured):
    return 1 - sum(paths.total() for _, paths in measured.values()) / sum(count for count, _ in measured.values())


def told_in_document():
    """Return the kinds of docs/service.md with the fields that it says are not kept."""
    text = DOCUMENT.read_text().partition("## Moving")[2].partition("\n## ")[0]
    rows = re.findall(r"^- \*\*([a-z ]+)\*\*: (.*(?:\n  .*)*)", text, re.MULTILINE)
    return {kind: set(re.findall(r"`(\w+)`", listed)) for kind, listed in rows}


def test_at_least_95_percent_of_the_fields_of_dumps_come_back_unchanged(target):
    measured = moved(target, DOCUMENTS)
    assert {*measured} == {*KINDS}
    assert share(measured) >= 0.95


def test_the_document_lists_every_field_that_does_not_come_back(target):
    measured = moved(target, full_documents())
    listed = told_in_document()
    assert {*listed} == {*KINDS}
    for kind, (_, paths) in measured.items():
        assert {path.split("/")[1] for path in paths} <= listed[kind], kind
    assert share(measured) >= 0.75


def test_everything_that_a_request_can_say_comes_back(target):
    documents = full_documents()
    imported(target, documents)
    for kind, things in read(documents.items()).things.items():
        name, request = KINDS[kind].create(things[0])
        given = next((request[one] for one in WRAPPERS if one in request), request if name else {})
        shown, wanted = KINDS[kind].show(things[0])
        answer = target.operate(shown, wanted)
        kept = dict(fields(answer.get(KINDS[kind].shown, answer)))
        own = {"/RegistryId/RegistryName", "/StartOnCreation"}  # of requests only
        assert {path for path, value in fields(given) if kept.get(path) != value} - own == set(), kind


def test_what_exists_is_left_or_updated(target):
    imported(target, DOCUMENTS)
    again = imported(target, DOCUMENTS)
    assert {kind: (one.created, one.updated) for kind, one in again.items()} == dict.fromkeys(KINDS, (0, 0))
    changed_jobs = {"jobs.json": {"Jobs": [{**JOBS[0], "Description": "changed"}, {**JOBS[1], "Name": "new"}]}}
    left = imported(target, changed_jobs)["jobs"]
    assert (left.created, left.left) == (1, 1)
    updated = imported(target, changed_jobs, update=True)["jobs"]
    assert (updated.created, updated.updated) == (0, 2)
    assert target.operate("GetJob", {"JobName": "load-orders"})["Job"]["Description"] == "changed"
    everything = imported(target, DOCUMENTS, update=True)
    assert [one.refused for one in everything.values() if one.refused] == []


def test_what_is_refused_is_told_and_the_rest_is_imported(target):
    ray = {**JOBS[0], "Name": "ray", "Command": {"Name": "glueray", "ScriptLocation": "s3://a/b.py"}}
    crawling = {**TRIGGERS[2], "Name": "crawl", "Actions": [{"CrawlerName": "lake"}]}
    orphan = {**TRIGGERS[2], "Name": "orphan", "Actions": [{"JobName": "none"}]}
    outcomes = imported(
        target,
        {
            "a": {"Jobs": [ray, JOBS[2]]},
            "b": {"Triggers": [crawling, orphan, TRIGGERS[2]]},
            "c": {"Crawlers": [{"Name": "lake"}]},
            "d": VERSIONS[0],
        },
    )
    assert (outcomes["jobs"].created, outcomes["triggers"].created) == (1, 1)
    assert outcomes["jobs"].refused[0][0] == "ray"
    assert outcomes["triggers"].refused == [
        ("crawl", "Crawler lake not found."),
        ("orphan", "Job none not found."),
    ]
    assert outcomes["crawlers"].refused == [
        ("lake", "Crawlers are not imported yet; create them with `aws glue create-crawler`.")
    ]
    assert outcomes["schema versions"].refused == [
        ("web/clicks 1", "Schema is not found. SchemaName: clicks, RegistryName: web.")
    ]


def test_a_trigger_is_activated_if_it_was(target):
    imported(target, DOCUMENTS)
    states = {one["Name"]: one["State"] for one in target.operate("GetTriggers", {})["Triggers"]}
    assert states == {one["Name"]: one["State"] for one in TRIGGERS}


def test_versions_of_schemas_keep_their_ids(target):
    imported(target, DOCUMENTS)
    found = target.operate("GetSchemaVersion", {"SchemaVersionId": VERSIONS[1]["SchemaVersionId"]})
    assert found["SchemaDefinition"] == VERSIONS[1]["SchemaDefinition"]
    other = {**SCHEMA, "SchemaName": "views", "SchemaArn": SCHEMA["SchemaArn"].replace("clicks", "views")}
    twice = {"a": other, "b": {**VERSIONS[0], "SchemaArn": other["SchemaArn"]}}
    assert "Another schema has the version" in imported(target, twice)["schema versions"].refused[0][1]
    wrong = {"a": {**VERSIONS[0], "VersionNumber": 9, "SchemaDefinition": "{"}}
    assert "is invalid" in imported(target, wrong)["schema versions"].refused[0][1]


@pytest.mark.parametrize(
    ("document", "note"),
    [
        ({"JobNames": ["a"]}, "a.json: list-jobs prints names only; use get-jobs."),
        ({"Workflows": ["a"]}, "a.json: list-workflows prints names only; use batch-get-workflows."),
        ({"Schemas": [{"SchemaName": "a"}]}, "use get-schema for each schema"),
        ({"Jobs": [], "NextToken": "x"}, "a.json has a NextToken, so it is not the whole answer."),
        ({"Jobs": [], "Blueprints": []}, "a.json has Blueprints, which import does not know."),
    ],
)
def test_a_document_that_does_not_hold_enough_is_told(document, note):
    dump = read([("a.json", document)])
    assert dump.things == {}
    assert note in dump.notes[0]


@pytest.mark.parametrize("document", [[], {}, {"Blueprints": []}, "text"])
def test_a_document_of_something_else_is_refused(document):
    with pytest.raises(ConfigError, match=r"a\.json has .*; make it with a command such as"):
        read([("a.json", document)])


def test_times_are_read_as_both_command_lines_print_them():
    shape = model_of("glue").shape_for("Job")
    for told in ("2024-03-01T09:30:00.123000+00:00", 1709285400.123, "2024-03-01T10:30:00.123+01:00"):
        assert fitting(shape, {"CreatedOn": told})["CreatedOn"] == pytest.approx(1709285400.123)
    assert fitting(shape, {"CreatedOn": "yesterday", "Name": None, "Other": 1}) == {"CreatedOn": "yesterday"}


def test_the_commands_print_what_became_of_a_dump(environ, monkeypatch, capsys, tmp_path):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    jobs = tmp_path / "jobs.json"
    jobs.write_text(json.dumps({"Jobs": JOBS, "NextToken": "x"}))
    import_(str(jobs), output="json")
    [row] = json.loads(capsys.readouterr().out)
    assert (row["kind"], row["created"], row["not_kept"]) == ("jobs", 3, 0)
    monkeypatch.setattr("sys.stdin", StringIO(json.dumps({"Crawlers": [{"Name": "lake"}]})))
    with pytest.raises(SystemExit):
        import_()
    assert (
        "Refused: crawlers lake: Crawlers are not imported yet; create them with `aws glue create-crawler`."
        in capsys.readouterr().out
    )
    import_(str(jobs))
    assert "has a NextToken" in capsys.readouterr().out
    export_(kind=["jobs"])
    printed = json.loads(capsys.readouterr().out)
    assert [one["Name"] for one in printed["Jobs"]] == ["clicks", "load-orders", "report"]
    assert printed["Jobs"][0]["CreatedOn"] == JOBS[1]["CreatedOn"]
    export_(kind=["registries"])
    assert {*json.loads(capsys.readouterr().out)} == {"Registries", "Schemas", "SchemaVersions"}
    with pytest.raises(ConfigError, match="There is no kind 'crawlers'; use one of registries, "):
        export_(kind=["crawlers"])
    for name, content in (("none.json", None), ("broken.json", "{")):
        if content:
            (tmp_path / name).write_text(content)
        with pytest.raises(ConfigError, match=name):
            import_(str(tmp_path / name))


def test_passwords_are_hidden_from_an_export_on_request(target):
    imported(target, DOCUMENTS)
    assert "canary" in json.dumps(export(["connections"], target.operate))
    assert "canary" not in json.dumps(export(["connections"], target.operate, hide_passwords=True))


def test_pages_are_joined(target):
    many = [{**JOBS[2], "Name": f"job{number:03}"} for number in range(120)]
    flows = [{"Name": f"flow{number:02}"} for number in range(30)]
    imported(target, {"a": {"Jobs": many, "Workflows": flows}})
    found = export(["jobs", "workflows"], target.operate)
    assert (len(found["Jobs"]), len(found["Workflows"])) == (120, 30)
    assert {*EXPORTS} == {*KINDS}
    assert {member for member, _ in EXPORTS.values()} <= {*PLURALS, "Schemas"}
