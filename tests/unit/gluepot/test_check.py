from __future__ import annotations

import json
from pathlib import Path

import pytest

import awsglueml.transforms
from awsglue.context import GlueContext
from awsglue.readers import DataFrameReader, DynamicFrameReader
from awsglue.sinks import DynamicFrameWriter
from gluepot.check import Level, check_paths, check_script
from gluepot.check.calls import TRANSFORM
from gluepot.check.verdict import NOT_THERE, READS
from gluepot.cli.exit_codes import FINDINGS
from gluepot.cli.main import main
from gluepot.connectors.registry import connector
from gluepot.core.errors import ConfigError, NotSupported

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))
HEAD = """
from awsglue.transforms import *
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
glueContext = GlueContext()
frame = glueContext.create_dynamic_frame.from_options("kafka", {}, transformation_ctx="read")
"""


def _found(script: str, level: Level, head: str = HEAD) -> list[tuple[str, str]]:
    return [(one.name, one.message) for one in check_script("job.py", head + script).at(level)]


def _refused(script: str) -> list[str]:
    return [name for name, _ in _found(script, Level.NOT_SUPPORTED)]


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_an_example_has_nothing_to_be_said_against(script):
    report = check_script(script.name, script.read_text())

    # A Python shell script may have no call of Glue's library at all, and its modules come with its run.
    assert {finding.level for finding in report.findings if finding.name != "no-module"} <= {Level.SUPPORTED}


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("glueContext.transition_table('d', 't', 'GLACIER')", "GlueContext.transition_table"),
        ("frame.no_such_method()", "DynamicFrame.no_such_method"),
        ("glueContext.create_data_frame.from_options('bigquery')", "DataFrameReader.from_options"),
        ("ResolveChoice.apply(frame, [('a', 'make_columns')])", "ResolveChoice"),
        ("frame.apply_mapping([('a', 'strin', 'a', 'lng')])", "DynamicFrame.apply_mapping"),
        ("Unbox.apply(frame=frame, path='a', format='xml')", "Unbox"),
        ("SplitRows.apply(frame, {'a': {'==': 1}})", "SplitRows"),
        (
            "glueContext.write_dynamic_frame.from_options(frame, 'dynamodb', transformation_ctx='w')",
            "DynamicFrameWriter.from_options",
        ),
        ("frame.write('dynamodb', {'dynamodb.throughput.write.percent': '9'})", "DynamicFrame.write"),
        ("frame.write('sns', {'topicArn': 'orders'})", "DynamicFrame.write"),
        (
            "glueContext.write_dynamic_frame.from_options(frame, 's3', {'path': p}, 'avro', transformation_ctx='w')",
            "DynamicFrameWriter.from_options",
        ),
        ("frame.write('custom.spark', {'path': p, 'className': 'net.snowflake.spark'})", "DynamicFrame.write"),
        ("from awsglueml.transforms import FindMatches\nFindMatches.apply(frame)", "FindMatches"),
        (
            "frame.write('jdbc', {'url': 'jdbc:postgresql://h/d', 'customJdbcDriverS3Path': 's3://b/d.jar'})",
            "DynamicFrame.write",
        ),
        (
            "kind = 'custom.spark'\noptions = {'className': 'org.apache.hive', 'path': p}\nframe.write(kind, options)",
            "DynamicFrame.write",
        ),
        ("if flag:\n    frame.no_such_method()", "DynamicFrame.no_such_method"),
        ("if hasattr(frame, 'one'):\n    pass\nelse:\n    frame.one()", "DynamicFrame.one"),
        ("from awsgluedq.transforms import NoSuchTransform", "awsgluedq.transforms.NoSuchTransform"),
        ("from awsglue.dynamicframe import NoSuchName", "awsglue.dynamicframe.NoSuchName"),
        ("import gs_nothing", "gs_nothing"),
    ],
)
def test_a_call_that_the_run_would_refuse_is_found(script, name):
    assert _refused(script) == [name]


def test_the_transforms_of_studio_are_supported_with_and_without_their_modules():
    script = "import gs_now\nimport gs_uuid\none = frame.gs_now(colName='at').gs_uuid()\none.gs_derived('a', 'b')"

    assert [name for name, _ in _found(script, Level.SUPPORTED)][1:] == [
        "DynamicFrame.gs_now",
        "DynamicFrame.gs_uuid",
        "DynamicFrame.gs_derived",
    ]
    assert _refused(script) == []


@pytest.mark.parametrize(
    "script",
    [
        "frame.toDF().filter('a > 1').write.parquet('x')",
        "frame.write('iceberg', {'path': 'glue_catalog.shop.orders'})",
        "glueContext.create_data_frame.from_options('delta', {'path': 's3://lake/orders', 'versionAsOf': 3})",
        "frame.write('marketplace.spark', {'path': 'glue_catalog.shop.orders', 'connectionName': 'iceberg'})",
        "frame.write('custom.spark', {'path': 's3://lake/orders', 'className': chosen})",
        "x = Filter.apply(frame=frame, f=lambda r: r['a']).select_fields(['a']).unnest()",
        "frames = frame.split_fields(['a'], 'x', 'y')\nframes['x'].resolveChoice(specs=[('a', chosen)])",
        "frame.apply_mapping(made_elsewhere)",
        "glueContext.create_dynamic_frame.from_catalog('d', 't', transformation_ctx='r').count()",
        "frame.resolveChoice(choice='match_catalog', database='d', table_name='t')",
        "sink = glueContext.getSink('s3', path=p, transformation_ctx='w')\nsink.setFormat('json')\nsink.writeFrame(frame)",
        "Relationalize.apply(frame, 'x').select('roottable').count()",
        "def MyTransform(glueContext, dfc) -> DynamicFrameCollection:\n    return dfc.select(list(dfc.keys())[0]).toDF()",
        "frame = frame.toDF()\nframe.no_such_method()",
        "other.purge_table('d', 't')",
        "DynamicFrame.shout = lambda self: self\nframe.shout()",
        "import shout\nframe.shout()",
        "if hasattr(frame, 'no_such_method'):\n    frame.no_such_method()",
        "from pyspark.sql import DataFrame\ndef work(frame: DataFrame):\n    frame.no_such_method()",
        "options = {'url': 'jdbc:oracle:thin:@//h/d'}\noptions['url'] = chosen\nframe.write('jdbc', options)",
        "options = {'url': 'jdbc:oracle:thin:@//h/d'}\noptions.update(chosen)\nframe.write('jdbc', options)",
        "frame.write('postgresql', {'url': 'jdbc:postgresql://h/d', 'dbtable': 't'})",
        "frame.write('mysql', {'url': 'jdbc:mysql://h/d', 'dbtable': 't', 'customJdbcDriverS3Path': 's3://b/d.jar'})",
        "frame.write('jdbc', {'connectionName': name, 'dbtable': 't'})",
        "frame.write('oracle', {'url': u, 'dbtable': 't'})",
        "frame.write('snowflake', {'sfUrl': u, 'dbtable': 't'})",
        "frame.write('jdbc', {'url': 'jdbc:sqlserver://h;databaseName=d', 'dbtable': 't'})",
        "frame.write('custom.jdbc', {'url': 'jdbc:db2://h/d', 'dbtable': 't', 'customJdbcDriverS3Path': 's3://b/d.jar'})",
    ],
)
def test_a_call_that_works_or_is_none_of_glues_is_not_refused(script):
    assert _refused(script) == []


def test_calls_are_followed_through_variables_and_collections():
    script = "split = frame.split_fields(['a'], 'x', 'y')\none = split['x'] if flag else frame\none.purge()"

    assert _refused(script) == ["DynamicFrame.purge"]


def test_what_is_partly_there_says_what_is_missing():
    assert _found("frame.join('a', 'b', frame)", Level.PARTLY) == [
        ("DynamicFrame.join", "error records stay with the two inputs")
    ]


BATCH = """
def work(data_frame, batch_id):
    {body}
glueContext.forEachBatch(frame=stream, batch_function=work, options={options})
"""


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("job = Job(glueContext)\njob.init('j')", "no-commit"),
        ("glueContext.create_dynamic_frame.from_options('kafka')", "no-ctx"),
        ("glueContext.getSink('s3', path='p', transformation_ctx='')", "no-ctx"),
        (BATCH.format(body="data_frame.write.mode('append').parquet('p')", options={}), "retry-repeats-write"),
        (
            BATCH.format(body="data_frame.filter('a').writeTo('t').append()", options={"batchMaxRetries": 3}),
            "retry-repeats-write",
        ),
        (
            BATCH.format(
                body="glueContext.write_dynamic_frame.from_options(frame, 's3', "
                "{'path': 'p', 'partitionKeys': ['a', 'b']}, 'json', transformation_ctx='w')",
                options={"windowSize": "5 seconds"},
            ),
            "small-files",
        ),
        ("frame.toDF().to_koalas()", "spark-4"),
        ("import no_such_package.part", "no-module"),
        ("from no_such_package import part", "no-module"),
        ("def work(frame: int):\n    pass\nimport no_such_package", "no-module"),
        (
            "glueContext.create_dynamic_frame.from_options('mysql', {'url': u}, transformation_ctx='r')",
            "no-driver",
        ),
        ("spark.read.format('kinesis').load()", "no-format"),
        ("SOURCE = 'net.snowflake.spark.snowflake'\nspark.read.format(SOURCE).options(**o).load()", "no-format"),
        ("frame.toDF().write.mode('append').format('hudi').save(p)", "no-format"),
        ("frame.write('custom.spark', {'className': 'org.apache.hudi', 'path': p})", "no-format"),
    ],
)
def test_what_often_goes_wrong_is_a_warning(script, rule):
    assert [name for name, _ in _found(script, Level.WARNING)] == [rule]


@pytest.mark.parametrize(
    "script",
    [
        "job = Job(glueContext)\njob.init('j')\njob.commit()",
        BATCH.format(body="data_frame.write.parquet('p')", options={"batchMaxRetries": 0}),
        BATCH.format(
            body="glueContext.write_dynamic_frame.from_options(frame, 's3', "
            "{'path': 'p', 'partitionKeys': ['a', 'b']}, 'json', transformation_ctx='w')",
            options={"windowSize": "100 seconds"},
        ),
        "frame.toDF().write.parquet('p')",
        "try:\n    import no_such_package\nexcept ImportError:\n    no_such_package = None",
        "from . import part\nimport boto3, json.decoder",
        "glueContext.getSource('mysql', customJdbcDriverS3Path='s3://j/d.jar', transformation_ctx='r')",
        "o = {'customJdbcDriverS3Path': j}\nglueContext.create_dynamic_frame.from_options('mysql', o, transformation_ctx='r')",
        "spark.read.format('parquet').load(p)\n'{} of kinesis'.format('kinesis')",
        "spark.readStream.format('kafka').load()",
        "spark.readStream.option('streamName', 's').format('aws-kinesis').load()",
    ],
)
def test_a_script_that_does_it_right_gets_no_warning(script):
    assert _found(script, Level.WARNING) == []


def test_a_finding_tells_its_line():
    assert [one.line for one in check_script("job.py", HEAD + "frame.purge()").at(Level.NOT_SUPPORTED)] == [8]


def test_what_is_no_python_is_refused_with_its_line():
    with pytest.raises(ConfigError, match=r"old\.py is not a Python script: line 1"):
        check_script("old.py", "print 'x'")


CONTEXT = object.__new__(GlueContext)
CONTEXT.spark_session = None
FACADES = {
    "DataFrameReader": DataFrameReader(CONTEXT),
    "DynamicFrameReader": DynamicFrameReader(CONTEXT),
    "DynamicFrameWriter": DynamicFrameWriter(CONTEXT),
}


@pytest.mark.parametrize("call", sorted(NOT_THERE))
def test_a_facade_that_is_said_to_refuse_does(call):
    owner, _, name = call.partition(".")

    with pytest.raises(NotSupported):
        (getattr(awsglueml.transforms, name).apply if owner == TRANSFORM else getattr(FACADES[owner], name))()


@pytest.mark.parametrize(
    "kind",
    [
        *("s3", "mysql", "postgresql", "redshift", "dynamodb", "mongodb", "kafka", "kinesis", "parquet", "opensearch"),
        *("iceberg", "delta", "custom.spark"),
    ],
)
@pytest.mark.parametrize("owner", ["DataFrameReader", "DynamicFrameReader"])
def test_connection_types_are_refused_by_the_check_as_they_are_by_the_run(owner, kind):
    with pytest.raises(ConfigError) as raised:
        FACADES[owner].from_options(connection_type=kind, connection_options={})

    assert isinstance(raised.value, NotSupported) == (not READS[owner](connector(kind)))


def test_the_command_ends_with_its_own_code_and_writes_json(tmp_path, capsys):
    script = tmp_path / "job.py"
    script.write_text(HEAD + "frame.purge()")

    with pytest.raises(SystemExit) as ended:
        main(["check", str(script), "--output", "json"])

    assert ended.value.code == FINDINGS
    (report,) = json.loads(capsys.readouterr().out)
    assert report["findings"][-1]["name"] == "DynamicFrame.purge"


def test_the_command_says_each_finding_on_a_line_and_counts_them(tmp_path, capsys):
    script = tmp_path / "job.py"
    script.write_text(HEAD + "frame.count()")

    with pytest.raises(SystemExit) as ended:
        main(["check", str(script)])

    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{script}:7: supported: DynamicFrameReader.from_options",
        f"{script}:8: supported: DynamicFrame.count",
        f"{script}: 2 supported, 0 partly, 0 not supported, 0 warning",
    ]


DQ = "from awsgluedq.transforms import EvaluateDataQuality\n"
WRONG = '''NODE_ruleset = """
Rules = [ IsComplet "id" ]
"""
'''


@pytest.mark.parametrize(
    "call",
    [
        "EvaluateDataQuality().process_rows(frame=frame, ruleset=NODE_ruleset)",
        "EvaluateDataQuality.process_rows(frame, NODE_ruleset)",
        "EvaluateDataQuality.apply(frame, NODE_ruleset)",
        "EvaluateDataQuality()(frame=frame, ruleset=NODE_ruleset)",
        "EvaluateDataQuality.apply(frame, 'Rules = [\\nIsComplet \"id\" ]')",
    ],
)
def test_a_ruleset_in_the_script_is_checked(call):
    (found,) = _found(DQ + WRONG + call, Level.NOT_SUPPORTED)
    name, message = found
    assert name == "EvaluateDataQuality"
    assert message.startswith("in the ruleset: Line 2, column ")
    assert message.endswith("there is no rule type IsComplet; did you mean IsComplete?")


def test_a_batch_function_finds_a_ruleset_that_follows_it():
    script = "def work(frame, batch_id):\n    EvaluateDataQuality.apply(frame, NODE_ruleset)\n"
    assert _refused(DQ + script + WRONG) == ["EvaluateDataQuality"]


@pytest.mark.parametrize(
    "script",
    [
        "EvaluateDataQuality.apply(frame, 'Rules = [ IsComplete \"id\" ]')",
        "EvaluateDataQuality.apply(frame, f'Rules = [ {rules} ]')",
        "NODE_ruleset = ''\nEvaluateDataQuality.apply(frame, NODE_ruleset)",
        "for NODE_ruleset in rulesets:\n    EvaluateDataQuality.apply(frame, NODE_ruleset)",
    ],
)
def test_only_a_ruleset_that_is_known_without_running_is_checked(script):
    assert _refused(DQ + WRONG.replace("IsComplet ", "IsComplete ") + script) == []


def test_what_glue_would_refuse_in_a_ruleset_is_a_warning():
    script = "EvaluateDataQuality.apply(frame, 'Rules = [ RowCount > 3 -- rows\\n]')"
    assert _found(DQ + script, Level.WARNING) == [
        ("ruleset", "Line 1: Glue knows only comments that begin with #; this one begins with --.")
    ]


def test_modules_beside_a_script_are_there(tmp_path):
    (tmp_path / "job.py").write_text("import own_module, own_package.part, no_such_package")
    (tmp_path / "own_module.py").touch()
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "part.py").touch()
    (report,) = check_paths([tmp_path / "job.py"])
    assert [one.message.partition(";")[0] for one in report.findings] == ["there is no module no_such_package here"]
