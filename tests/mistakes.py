"""Kinds of mistakes, with what Gluepot says about each: docs/mistakes.md is made of them, and tests make each one.

`python -m scripts.documents` writes the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake on the command line that costs neither Spark nor a server.

    Args:
        did: what a person did.
        tokens: the command line, after `gluepot`.
        said: the sentence on standard error after `error: `. `{here}` is the current folder.
        code: the exit code.
        lines: what stands before the sentence, such as lines of the script.
    """

    did: str
    tokens: Sequence[str]
    said: str
    code: int = 2
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A mistake that a test of a job or with a server makes.

    Args:
        did: what a person did.
        said: the sentence; `…` stands for values.
        code: the exit code, or what happens instead.
        test: the file and the name of the test.
    """

    did: str
    said: str
    code: int | str
    test: str


FILES = {
    "job.py": "",
    "broken.py": "def f(:\n",
    "fails.py": "def clean(row):\n    raise ValueError('no amount')\n\n\nclean({})\n",
    "needs.py": (
        "import sys\nfrom awsglue.utils import getResolvedOptions\n\ngetResolvedOptions(sys.argv, ['JOB_NAME', 'out'])\n"
    ),
    "imports.py": "import pandaz\n",
    "other_topic.py": (
        "from gluepot.connectors.kafka.positions import Positions, Span\n\n"
        "held = Positions({'orders': 'x'}, {('orders', 0): Span(0, 4)}).to_json()\n"
        "Positions.find_own([held], ['clicks'], '/data/checkpoint')\n"
    ),
    "no_stream.py": (
        "from gluepot.connectors.kinesis.errors import from_service\n\n"
        "raise from_service('ListShards', 'Kinesis stream clicks', 400, 'ResourceNotFoundException', '')\n"
    ),
    "notes.txt": "hello",
    "connections.yaml": "connections:\n  clicks:\n    type: kafkaa\n    properties: {}\n",
    "broken.yaml": "connections: [\n",
    "broken.json": "{",
    "empty.json": "{}",
    "grok.json": '{"GrokClassifier": {"Name": "g", "Classification": "c", "GrokPattern": "%{NUMBR:n}"}}',
    "rules.dqdl": "Rules = [ RowCount > 0 ]",
    "lake/orders/_rejects/run-1.rejects": "",
    "lake/orders/_gluepot/commits/x.json": "",
    "folder/notes.txt": "",
}
"""The files in the current folder of each mistake."""

OF_COMMANDS = (
    Mistake(
        "A command is misspelt",
        ["rn", "job.py"],
        'Unknown command "rn". Did you mean "run"? Available commands: up, status, down, checkpoint, table, dlq,'
        " bookmarks, catalog, ... See `gluepot --help`.",
    ),
    Mistake("No script is named", ["run"], "`gluepot run` needs SCRIPT. See `gluepot run --help`."),
    Mistake(
        "The script is not there", ["run", "none.py"], "There is no script none.py; give the path of a Python file."
    ),
    Mistake("The script is a folder", ["run", "folder"], "There is no script folder; give the path of a Python file."),
    Mistake(
        "The script is no Python",
        ["run", "broken.py"],
        "SyntaxError: invalid syntax (broken.py, line 1)",
        lines=['  File "broken.py", line 1', "    def f(:", "          ^"],
    ),
    Mistake(
        "The script fails",
        ["run", "fails.py"],
        "ValueError: no amount",
        1,
        [
            '  File "fails.py", line 5, in <module>',
            "    clean({})",
            '  File "fails.py", line 2, in clean',
            "    raise ValueError('no amount')",
        ],
    ),
    Mistake(
        "An argument of the script is missing",
        ["run", "needs.py", "--", "--JOB_NAME", "x"],
        "GlueArgumentError: the following arguments are required: --out; write the script's arguments after `--`, "
        "or in Arguments of a run of the service.",
        lines=[
            '  File "needs.py", line 4, in <module>',
            "    getResolvedOptions(sys.argv, ['JOB_NAME', 'out'])",
        ],
    ),
    Mistake(
        "A module is not installed",
        ["run", "imports.py"],
        "ModuleNotFoundError: No module named 'pandaz'; name it in --additional-python-modules, or give its file with"
        " --extra-py-files.",
        1,
        ['  File "imports.py", line 1, in <module>', "    import pandaz"],
    ),
    Mistake(
        "Arguments of the script stand before `--`",
        ["run", "job.py", "--JOB_NAME", "x"],
        "Unknown option: --JOB_NAME. Put the script's own arguments after `--`.",
    ),
    Mistake(
        "A job parameter has no value",
        ["run", "job.py", "--", "--JOB_NAME"],
        "--JOB_NAME has no value; write it behind the name, or leave the parameter out",
    ),
    Mistake(
        "The checkpoint belongs to another topic",
        ["run", "other_topic.py"],
        "The checkpoint /data/checkpoint belongs to another stream (orders), this one reads clicks; use another"
        " checkpointLocation, or delete the folder to start over.",
        lines=[
            '  File "other_topic.py", line 4, in <module>',
            "    Positions.find_own([held], ['clicks'], '/data/checkpoint')",
        ],
    ),
    Mistake(
        "The Kinesis stream is not there",
        ["run", "no_stream.py"],
        "Kinesis stream clicks is not there (ResourceNotFoundException); create the stream, or correct its name.",
        lines=[
            '  File "no_stream.py", line 3, in <module>',
            "    raise from_service('ListShards', 'Kinesis stream clicks', 400, 'ResourceNotFoundException', '')",
        ],
    ),
    Mistake(
        "The connections file is not there",
        ["run", "job.py", "--connections", "c.yaml"],
        "There is no connections file c.yaml; correct --connections.",
    ),
    Mistake(
        "The connections file is no YAML",
        ["run", "job.py", "--connections", "broken.yaml"],
        "broken.yaml is not YAML at line 2; correct it there",
    ),
    Mistake(
        "A connection has an unknown type",
        ["run", "job.py", "--connections", "connections.yaml"],
        "connections.yaml: connection 'clicks' has the type 'kafkaa'; use one of kafka, jdbc, mongodb, opensearch,"
        " network, kinesis, s3, custom, marketplace. Did you mean 'kafka'?",
    ),
    Mistake(
        "A port is too large",
        ["run", "job.py", "--metrics-port", "70000"],
        'Invalid value "70000" for --metrics-port. Must be <= 65535. See `gluepot run --help`.',
    ),
    Mistake(
        "Pages are open to other machines without a token",
        ["run", "job.py", "--metrics-port", "0", "--metrics-host", "0.0.0.0"],
        "the ops server on 0.0.0.0 can be reached from other machines, and has no token; set GLUEPOT_METRICS_TOKEN"
        " (file:/path, or the token), or listen on 127.0.0.1",
    ),
    Mistake(
        "The token of the pages is short",
        ["run", "job.py", "--metrics-port", "0", "--metrics-token", "short"],
        "the token of the ops server has 5 characters; use 16 or more, ASCII only",
    ),
    Mistake(
        "The push gateway is no URL",
        ["run", "job.py", "--push-gateway", "gateway"],
        "--push-gateway is 'gateway'; give a URL such as http://gateway:9091.",
    ),
    Mistake("A number is too small", ["run", "job.py", "--max-batches", "0"], "--max-batches is 0; use 1 or more."),
    Mistake(
        "A number is a word",
        ["run", "job.py", "--max-batches", "many"],
        'Invalid value for --max-batches: unable to convert "many" into int. See `gluepot run --help`.',
    ),
    Mistake(
        "The version of Glue is too old",
        ["run", "job.py", "--glue-version", "2.0"],
        "Glue version '2.0' is not known; use one of 3.0, 4.0, 5.0, 5.1, 6.0",
    ),
    Mistake(
        "The worker type does not exist",
        ["run", "job.py", "--worker-type", "G.9X", "--number-of-workers", "2"],
        "--worker-type is 'G.9X'; use one of Standard, G.025X, G.1X, G.2X, G.4X, G.8X, G.12X, G.16X, R.1X, R.2X, R.4X,"
        " R.8X.",
    ),
    Mistake(
        "A worker type without a number of workers",
        ["run", "job.py", "--worker-type", "G.1X"],
        "--worker-type and --number-of-workers belong together; give both or neither.",
    ),
    Mistake(
        "An option of streams is no pair",
        ["run", "job.py", "--stream-option", "maxOffsetsPerTrigger"],
        "--stream-option is 'maxOffsetsPerTrigger'; write NAME=VALUE, for example maxOffsetsPerTrigger=50000.",
    ),
    Mistake(
        "A word that an option does not know",
        ["run", "job.py", "--on-batch-failure", "skip"],
        'Invalid value "skip" for --on-batch-failure. Choose from: "fail", "quarantine". See `gluepot run --help`.',
    ),
    Mistake(
        "A setting of Spark is no pair",
        ["run", "job.py", "--", "--conf", "spark.x"],
        "--conf has 'spark.x', which is not key=value; write spark.some.key=value",
    ),
    Mistake(
        "A script in Scala",
        ["run", "job.py", "--", "--job-language", "scala"],
        "--job-language is 'scala'; only python scripts run here",
    ),
    Mistake(
        "A table format is misspelt",
        ["run", "job.py", "--", "--datalake-formats", "iceburg"],
        "--datalake-formats has 'iceburg'; use hudi, delta, iceberg. Did you mean 'iceberg'?",
    ),
    Mistake(
        "A Python file is not there",
        ["run", "job.py", "--", "--extra-py-files", "none.py"],
        "There is no file none.py in {here}; it is named by --extra-py-files or a descriptor.",
    ),
    Mistake(
        "An extra file is not there",
        ["run", "job.py", "--", "--extra-files", "none.txt"],
        "--extra-files has 'none.txt'; there is no such file, and no folder with files.",
    ),
    Mistake(
        "The server is misspelt",
        ["up", "kafak"],
        'Invalid value "kafak" for SERVER. Choose from: "kafka", "kinesis", "s3", "history". Did you mean "kafka"?'
        " See `gluepot up --help`.",
    ),
    Mistake(
        "The port of a server is too large",
        ["up", "kafka", "--port", "99999"],
        'Invalid value "99999" for --port. Must be <= 65535. See `gluepot up --help`.',
    ),
    Mistake(
        "The port of the service is negative",
        ["serve", "--port", "-1"],
        'Invalid value "-1" for --port. Must be >= 0. See `gluepot serve --help`.',
    ),
    Mistake(
        "A master without the launcher that uses it",
        ["serve", "--master", "spark://x:1"],
        "--master is spark://x:1, which --launcher process does not use; add --launcher spark-submit.",
    ),
    Mistake(
        "Words too many",
        ["status", "all", "now"],
        "`gluepot status` does not take 'all' 'now'. See `gluepot status --help`.",
    ),
    Mistake(
        "An option that a command does not have",
        ["checkpoint", "show", "x", "--from", "y"],
        "Unknown option: --from. See `gluepot checkpoint show --help`.",
    ),
    Mistake(
        "The cluster is not named",
        ["produce", "clicks"],
        "No cluster is given, and no development broker runs; give --bootstrap HOST:PORT or --connection NAME, or start"
        " a broker with `gluepot up kafka`.",
    ),
    Mistake(
        "A connection that nobody knows",
        ["produce", "clicks", "--connection", "shop", "--count", "1"],
        "connection 'shop' is not known, because there is no connections file; write ./gluepot.connections.yaml or"
        " name one in GLUEPOT_CONNECTIONS. The Data Catalog does not have it, either.",
    ),
    Mistake(
        "The file of records is not there",
        ["produce", "clicks", "--bootstrap", "127.0.0.1:1", "--file", "none.jsonl", "--count", "1"],
        "There is no file none.jsonl; give one with a record on each line.",
    ),
    Mistake(
        "A folder that is not a table",
        ["table", "files", "folder"],
        "{here}/folder is not a table: no batch was published there; check the path, or wait for a batch",
    ),
    Mistake(
        "A folder of tables instead of a table",
        ["table", "files", "lake"],
        "{here}/lake contains tables and is not a table; give one of them: orders.",
    ),
    Mistake(
        "A file instead of a checkpoint",
        ["checkpoint", "show", "notes.txt"],
        "cannot use {here}/notes.txt: Not a directory; give the path of a folder",
    ),
    Mistake(
        "S3 without a bucket", ["table", "files", "s3://"], "path 's3://' names no bucket; write s3://bucket/prefix"
    ),
    Mistake(
        "A store that is not supported",
        ["table", "files", "gs://bucket/x"],
        "path 'gs://bucket/x' has the scheme 'gs'; use a local path, file: or s3://",
    ),
    Mistake(
        "A table of Iceberg without its catalog",
        ["table", "optimize", "orders"],
        "'orders' is not a table; give catalog.database.table of Iceberg, or the folder of a Delta table.",
    ),
    Mistake(
        "A checkpoint that is not there",
        ["checkpoint", "show", "none"],
        "{here}/none is empty or does not exist; give the checkpointLocation of a query that has been started.",
    ),
    Mistake(
        "A folder that is no checkpoint",
        ["checkpoint", "doctor", "folder"],
        "{here}/folder is no checkpoint: it has neither metadata nor offsets nor commits; give the checkpointLocation"
        " of the script.",
    ),
    Mistake(
        "A rewind that does not say where to",
        ["checkpoint", "rewind", "folder"],
        "Give exactly one of --to-batch, --to-offsets, --to-timestamp and --from-table.",
    ),
    Mistake(
        "A folder without dead letters",
        ["dlq", "list", "folder"],
        "folder is neither a table nor a checkpoint, and has no rejected records; give the folder of one of them.",
    ),
    Mistake(
        "Dead letters of a folder of tables",
        ["dlq", "list", "lake"],
        "lake contains tables and is not a table; give one of them: orders.",
    ),
    Mistake(
        "Dead letters go nowhere",
        ["dlq", "replay", "t"],
        "Name the brokers with either --bootstrap or --connection.",
    ),
    Mistake(
        "A deletion without a terminal to confirm it",
        ["dlq", "purge", "lake/orders"],
        "Permanently delete the dead letters in {here}/lake/orders? No terminal to confirm on: pass --yes.",
        lines=[
            (
                "note: this folder has no manifests, so the list may include files that a crash left; to see only"
                " published records, pass the table as PATH and this folder as --rejects"
            ),
        ],
    ),
    Mistake(
        "A job that never ran with bookmarks",
        ["bookmarks", "explain", "clicks", "--ctx", "x"],
        "The ledger has no job 'clicks'; `gluepot bookmarks list` shows those it has.",
    ),
    Mistake(
        "A time in words",
        ["bookmarks", "rewind", "clicks", "--to-time", "yesterday"],
        "--to-time is 'yesterday'; write it as 2026-01-31T12:00.",
    ),
    Mistake(
        "A database that the catalog does not have",
        ["catalog", "show", "shop.orders"],
        "The catalog has no database 'shop'; it has none. `gluepot catalog import` reads one in, and `gluepot catalog"
        " create-database` makes one.",
    ),
    Mistake(
        "A table without its database",
        ["catalog", "show", "orders"],
        "'orders' is not the name of a table; write database.table.",
    ),
    Mistake(
        "A crawl of nothing",
        ["crawl"],
        "crawl needs a folder or a file, such as /data/lake or s3://bucket/folder.",
    ),
    Mistake(
        "A crawl of a folder that is not there",
        ["crawl", "none"],
        "No target could be crawled. There is no folder {here}/none; correct the path, or mount the disk that has it.",
    ),
    Mistake(
        "A crawl of a database",
        ["crawl", "jdbc:postgresql://db.example/shop"],
        "path 'jdbc:postgresql://db.example/shop' has the scheme 'jdbc'; use a local path, file: or s3://",
    ),
    Mistake(
        "A queue by its name",
        ["crawl", "s3://lake/orders", "--event-queue", "lake-events"],
        "EventQueueArn is 'lake-events'; write the ARN of a queue, such as"
        " arn:aws:sqs:eu-central-1:123456789012:lake-events.",
    ),
    Mistake(
        "Events of a folder that sends none",
        ["crawl", "folder", "--event-queue", "arn:aws:sqs:eu-central-1:123456789012:lake-events"],
        "The target folder is not in S3, so it sends no events for RecrawlBehavior CRAWL_EVENT_MODE; use"
        " CRAWL_NEW_FOLDERS_ONLY.",
    ),
    Mistake(
        "A grok pattern that is misspelt",
        ["crawl", "folder", "--classifier", "grok.json"],
        "The grok pattern NUMBR is not known; add it. Did you mean 'NUMBER'?",
    ),
    Mistake(
        "A classifier that is no JSON",
        ["crawl", "folder", "--classifier", "broken.json"],
        "The classifier broken.json is no JSON (Expecting property name enclosed in double quotes: line 1 column 2"
        " (char 1)); correct it.",
    ),
    Mistake(
        "A classifier of no kind",
        ["crawl", "folder", "--classifier", "empty.json"],
        "A classifier has no kind; give one of GrokClassifier, XMLClassifier, JsonClassifier, CsvClassifier.",
    ),
    Mistake(
        "A sample of no files",
        ["crawl", "folder", "--sample-size", "0"],
        "SampleSize is 0; use 1 to 249, or leave it out to read all files.",
    ),
    Mistake(
        "Tables at no level",
        ["crawl", "folder", "--table-level", "0"],
        "TableLevelConfiguration in Configuration is 0; use an integer from 1 on.",
    ),
    Mistake(
        "A dump that is no JSON",
        ["import", "broken.json"],
        "broken.json is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)); make"
        " it with --output json.",
    ),
    Mistake(
        "A dump that is not there",
        ["import", "none.json"],
        "none.json cannot be read: No such file or directory; check the path.",
    ),
    Mistake(
        "No data to check",
        ["quality", "check"],
        "`gluepot quality check` needs DATA. See `gluepot quality check --help`.",
    ),
    Mistake(
        "A ruleset that is not there",
        ["quality", "lint", "none.dqdl"],
        "The ruleset none.dqdl cannot be read: No such file or directory; give a file with DQDL.",
    ),
    Mistake(
        "A script to check is not there",
        ["check", "none.py"],
        "none.py cannot be read: No such file or directory; give the path of a Python file.",
    ),
    Mistake(
        "A script to check is no Python",
        ["check", "broken.py"],
        "broken.py is not a Python script: line 1: invalid syntax.",
    ),
    Mistake(
        "An advice log that is not there",
        ["advise", "none"],
        "There is no advice log none; `gluepot run --advice-log none` writes one.",
    ),
    Mistake(
        "A script to measure is not there",
        ["bench", "none.py", "--sla", "10s"],
        "There is no script none.py; give the path of a Python file.",
    ),
    Mistake(
        "A demo of no length",
        ["demo", "--seconds", "0"],
        "seconds is 0 and rate is 2000; use integers above 0.",
    ),
    Mistake(
        "A stream for a broker",
        ["up", "kafka", "--stream", "clicks"],
        "--stream is for kinesis, not for kafka; omit it, or `gluepot up kinesis`.",
    ),
    Mistake(
        "A topic without partitions",
        ["up", "kafka", "--topic", "clicks", "--partitions", "0"],
        'Invalid value "0" for --partitions. Must be >= 1. See `gluepot up --help`.',
    ),
    Mistake(
        "No broker is given and none runs",
        ["topic", "list"],
        "No cluster is given, and no development broker runs; give --bootstrap HOST:PORT or --connection NAME, or start"
        " a broker with `gluepot up kafka`.",
    ),
    Mistake(
        "Two clusters are given",
        ["topic", "list", "--bootstrap", "a:1", "--connection", "b"],
        "--bootstrap a:1 and --connection b both name a cluster; remove one of them.",
    ),
    Mistake(
        "A setting of a topic is no pair",
        ["topic", "create", "t", "--config", "a", "--bootstrap", "a:1"],
        "--config is 'a'; write NAME=VALUE.",
    ),
    Mistake(
        "A time for records in words",
        ["topic", "consume", "t", "--since", "yesterday", "--bootstrap", "a:1"],
        "--since is 'yesterday'; use a time such as 2026-01-31T12:00:00Z.",
    ),
    Mistake(
        "Only what comes later, without waiting for it",
        ["topic", "consume", "t", "--latest", "--bootstrap", "a:1"],
        "--latest leaves nothing to print without --follow; add it.",
    ),
    Mistake(
        "A new table without its database",
        ["catalog", "create-table", "web"],
        "'web' is not the name of a table; write database.table.",
    ),
    Mistake(
        "A database that is not there is dropped",
        ["catalog", "drop", "web"],
        "The catalog has no database 'web'; it has none. `gluepot catalog import` reads one in, and `gluepot catalog"
        " create-database` makes one.",
    ),
    Mistake(
        "A shell that has no completion",
        ["--install-completion", "--shell", "tcsh"],
        'Invalid value "tcsh" for --shell. Choose from: "bash", "zsh", "fish". See `gluepot --install-completion'
        " --help`.",
    ),
    Mistake(
        "A project where there is one already",
        ["init", "."],
        "job.py exists already; give a new folder, as in `gluepot init my-project`.",
    ),
    Mistake(
        "An option is misspelt",
        ["config", "show", "--max-batchs", "3"],
        "Unknown option: --max-batchs. Did you mean --max-batches? Put the script's own arguments after `--`.",
    ),
)

ELSEWHERE = (
    Elsewhere(
        "The topic is not there",
        "Kafka at … has no topic …; its topics are: ….… Create the topic first, or correct the name.",
        2,
        "tests/e2e/test_bad_input.py::test_a_missing_topic_is_2_and_one_sentence",
    ),
    Elsewhere(
        "The port of the pages is taken",
        "the metrics port … on … cannot be used (…); choose another with --metrics-port, or 0 for a free one",
        2,
        "tests/e2e/test_command_line.py::test_a_metrics_port_in_use_is_2_before_the_script_starts",
    ),
    Elsewhere(
        "The broker of a job does not answer",
        "Kafka at … did not answer within … s; start the broker, or correct bootstrap.servers.",
        1,
        "tests/e2e/test_bad_input.py::test_a_broker_that_does_not_answer_is_named_with_host_and_port",
    ),
    Elsewhere(
        "Another driver runs on the checkpoint",
        "… belongs to process … on …, which runs this query; stop that one, or give this job a checkpointLocation of its"
        " own",
        4,
        "tests/e2e/test_two_drivers.py::test_a_second_driver_is_refused_with_its_own_exit_code_and_the_first_goes_on",
    ),
    Elsewhere(
        "A column of `addRecordColumns` has the name of a field",
        "Records have a field …, and addRecordColumns adds a column …; give the column another name in"
        " addRecordColumns, such as … AS source_….",
        1,
        "tests/integration/test_record_columns.py::test_a_field_of_a_record_never_takes_the_place_of_the_column",
    ),
    Elsewhere(
        "A thread of a pool fails before it reads the stream that it has opened",
        "The script opened a stream and never read it (…); if a thread failed between the two, ask for its result, for"
        " example with future.result(). If the stream is not needed, do not open it.",
        1,
        "tests/unit/streaming/test_thread_failures.py::test_a_stream_that_a_thread_opened_and_nobody_read_ends_the_job",
    ),
    Elsewhere(
        "The output goes to `head`, which has seen enough",
        "",
        141,
        "tests/unit/gluepot/test_mistakes.py::test_a_reader_that_has_seen_enough_ends_a_command_without_a_word",
    ),
)

_HEAD = """\
<!-- Made from tests/mistakes.py by `python -m scripts.documents`; do not edit. -->

# Mistakes

Each of these was made, and this is what Gluepot says: one sentence on standard error, after
`error: `, with the value and the next step. Where the script has a part in it, its lines stand
before the sentence. [Errors and exit codes](reference/errors.md) has all messages.

"""


def document() -> str:
    """Return docs/mistakes.md."""
    rows = [("What was done", "Command", "What is said", "Exit code"), ("---", "---", "---", "---")]
    rows += [
        (one.did, f"`gluepot {' '.join(one.tokens)}`", one.said.format(here="/data"), str(one.code))
        for one in OF_COMMANDS
    ]
    rows += [(one.did, "", one.said or "nothing", str(one.code)) for one in ELSEWHERE]
    return _HEAD + "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in rows)
