"""What `gluepot check` says of 40 scripts, compared with what they do when they are run."""

from __future__ import annotations

import json

import pytest

from gluepot.check.finding import Outcome
from tests.e2e.jobs import SCRIPTS, arguments

HEAD = """\
import sys
from pyspark import SparkContext
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
args = getResolvedOptions(sys.argv, ["JOB_NAME", "rows", "out"])
glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)
frame = glueContext.create_dynamic_frame.from_options(
    connection_type="s3", connection_options={"paths": [args["rows"]]}, format="json", transformation_ctx="rows"
)
"""
TAIL = "\njob.commit()\n"
WRITE = (
    "glueContext.write_dynamic_frame.from_options({frame}, connection_type='s3', connection_options={options}, "
    "format='{format}', transformation_ctx='out')"
)


def written(frame="frame", options='{"path": args["out"]}', form="json"):
    return WRITE.format(frame=frame, options=options, format=form)


UNCHANGED = {
    "partitioned": written(
        "ApplyMapping.apply(frame, [('id', 'long', 'id', 'long'), ('kind', 'string', 'kind', 'string')])",
        '{"path": args["out"], "partitionKeys": ["kind"]}',
        "glueparquet",
    ),
    "csv": written("frame.select_fields(['id', 'kind'])", form="csv"),
    "sink": (
        "sink = glueContext.getSink(connection_type='s3', path=args['out'], transformation_ctx='w')\n"
        "sink.setFormat('json')\nsink.writeFrame(frame)"
    ),
    "choice": written("frame.resolveChoice(specs=[('mixed', 'cast:string')])"),
    "choices": written("ResolveChoice.apply(frame, choice='make_cols')", form="parquet"),
    "filtered": written("Filter.apply(frame=frame, f=lambda row: row['id'] > 1)"),
    "mapped": "def add(row):\n    row['more'] = row['id'] + 1\n    return row\n" + written("frame.map(add)"),
    "split": "parts = frame.split_fields(['id'], 'one', 'other')\n" + written("parts['one']"),
    "split_rows": "parts = SplitRows.apply(frame, {'id': {'>': 1}}, 'more', 'less')\n" + written("parts['more']"),
    "unnested": written("frame.unnest()"),
    "sql": (
        "frame.toDF().createOrReplaceTempView('rows')\n"
        "counted = spark.sql('SELECT kind, count(*) AS n FROM rows GROUP BY kind')\n"
        + written("DynamicFrame.fromDF(counted, glueContext, 'counted')")
    ),
    "renamed": written("RenameField.apply(frame.drop_fields(['nested']), 'id', 'number')"),
    "sparks_own": "spark.read.json(args['rows']).write.mode('overwrite').parquet(args['out'])",
    "errors": "assert frame.errorsAsDynamicFrame().count() == 0\nassert frame.count() == 3",
    "rules": (
        "from awsgluedq.transforms import EvaluateDataQuality\n"
        "found = EvaluateDataQuality.apply(frame, 'Rules = [ IsComplete \"id\" ]', {'dataQualityEvaluationContext': 'c'})\n"
        "assert [row['Outcome'] for row in found.toDF().collect()] == ['Passed']"
    ),
    "optional_module": "try:\n    import no_such_package\nexcept ImportError:\n    no_such_package = None",
    "asked_first": "if hasattr(frame, 'no_such_method'):\n    frame.no_such_method()",
    "options_elsewhere": "options = {'path': args['out'], 'partitionKeys': ['kind']}\n" + written(options="options"),
    "studio": "import gs_now\n" + written("frame.gs_now(colName='at')"),
    "schema": "frame.printSchema()\nassert [one.name for one in frame.schema()][:1] == ['id']",
}  # fmt: skip
NOTES = {
    "relationalized": "frame.relationalize('root', args['out']).select('root').count()",
    "joined": "frame.join(['id'], ['id'], frame).count()",
    "merged": "frame.mergeDynamicFrame(frame, ['id']).count()",
    "without_ctx": (
        "glueContext.write_dynamic_frame.from_options(frame, connection_type='s3', "
        "connection_options={'path': args['out']}, format='json')"
    ),
    "option_in_vain": written(options='{"path": args["out"], "partitonKeys": ["kind"]}'),
}
LACKING = {
    "module": "import no_such_package",
    "format": "spark.read.format('net.snowflake.spark.snowflake').load()",
    "oracle": "frame.write('oracle', {'url': 'jdbc:oracle:thin:@127.0.0.1:1/d', 'dbtable': 't', 'user': 'u', 'password': 'p'})",
    "part_of_a_module": "from no_such_package import part",
}
CHANGES = {
    "no_method": "frame.no_such_method()",
    "driver": (
        "options = {'url': 'jdbc:postgresql://127.0.0.1:1/d', 'dbtable': 't', 'customJdbcDriverS3Path': '/d.jar'}\n"
        "frame.write('jdbc', options)"
    ),
    "bigquery": "glueContext.create_data_frame.from_options('bigquery', {'table': 't'})",
    "choice_misspelled": "ResolveChoice.apply(frame, [('mixed', 'make_columns')]).count()",
    "type_misspelled": "frame.apply_mapping([('id', 'lng', 'id', 'lng')]).count()",
    "unbox_xml": "Unbox.apply(frame=frame, path='kind', format='xml').count()",
    "comparison": "SplitRows.apply(frame, {'id': {'==': 1}}, 'a', 'b')",
    "matches": "from awsglueml.transforms import FindMatches\nFindMatches.apply(frame, 'tfm-1')",
    "transition": "glueContext.transition_table('d', 't', 'GLACIER')",
    "ruleset": (
        "from awsgluedq.transforms import EvaluateDataQuality\n"
        "EvaluateDataQuality.apply(frame, 'Rules = [ IsComplet \"id\" ]')"
    ),
    "sink_format": (
        "sink = glueContext.getSink(connection_type='s3', path=args['out'], transformation_ctx='w')\n"
        "sink.setFormat('avro')\nsink.writeFrame(frame)"
    ),
    "name": "from awsglue.transforms import NoSuchTransform",
    "vendor": "frame.write('custom.spark', {'className': 'net.snowflake.spark', 'path': args['out']})",
    "connection_type": "glueContext.create_dynamic_frame.from_options('no_such_store', {}, transformation_ctx='r')",
}  # fmt: skip
OLD = "print 'written for Python 2'\n"
FINE = {Outcome.UNCHANGED, Outcome.NOTES}


@pytest.fixture
def corpus(tmp_path):
    """The scripts in a folder, with the outcomes that the check should give."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    expected = {}
    for outcome, bodies in (
        (Outcome.UNCHANGED, UNCHANGED),
        (Outcome.NOTES, NOTES),
        (Outcome.LACKING, LACKING),
        (Outcome.CHANGES, CHANGES),
    ):
        for name, body in bodies.items():
            (folder / f"{name}.py").write_text(HEAD + body + TAIL)
            expected[name] = outcome
    (folder / "never_committed.py").write_text(HEAD + "frame.count()\n")
    (folder / "old.py").write_text(OLD)
    return folder, expected | {"never_committed": Outcome.NOTES, "old": Outcome.CHANGES}


def test_the_check_is_right_on_each_of_them(launch, corpus, tmp_path):
    folder, expected = corpus
    rows = tmp_path / "rows.json"
    rows.write_text(
        '{"id": 1, "kind": "a", "mixed": 1, "nested": {"a": 1}}\n{"id": 2, "kind": "b", "mixed": "x"}\n'
        '{"id": 3, "kind": "a", "mixed": 2}\n'
    )
    checked = launch.hosted("check", folder, "--output", "json")
    ran = launch.hosted(
        "run", SCRIPTS / "run_each.py", "--master", "local[2]", "--",
        *arguments(JOB_NAME="each", scripts=folder, rows=rows, outcomes=tmp_path / "outcomes.json"),
        env={"GLUEPOT_STATE": str(tmp_path / "state")},
    )  # fmt: skip
    assert checked.exit_code() == 3, checked.err
    assert ran.exit_code() == 0, ran.err
    said = {
        report["script"].rpartition("/")[2].removesuffix(".py"): report["outcome"] for report in json.loads(checked.out)
    }
    done = json.loads((tmp_path / "outcomes.json").read_text())

    assert len(expected) >= 40
    assert {name: done[name] for name, one in said.items() if (done[name] == "") != (one in FINE)} == {}
    assert said == expected
