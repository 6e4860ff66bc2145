"""What a person reads about a failure: lines of the own code, and one sentence."""

import socket
import traceback

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JNetworkError

from gluepot.cli.failures import of_spark, own_frames, told, with_hint
from gluepot.core.errors import ConfigError

LIBRARIES = ("/python/lib", "/python/site-packages")
IN_A_TASK = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
Traceback (most recent call last):
  File "/python/site-packages/pyspark/worker.py", line 3386, in main
    process()
  File "/jobs/daily.py", line 9, in rate
    return row["clicks"] / row["views"]
           ~~~~~~~~~~~~~~^~~~~~~~~~~~~
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:645)
\t... 1 more
"""
IN_JAVA = """An error occurred while calling o87.load.
: java.util.concurrent.ExecutionException: org.postgresql.util.PSQLException: it failed
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: org.postgresql.util.PSQLException: FATAL: password authentication failed for user "glue"
\tat org.postgresql.core.v3.ConnectionFactoryImpl.doAuthentication(ConnectionFactoryImpl.java:693)
\t... 21 more
"""


def frames(*files):
    return [traceback.FrameSummary(file, 1, "f") for file in files]


def test_frames_of_libraries_are_left_out():
    given = frames("<frozen runpy>", "/jobs/daily.py", "/python/site-packages/awsglue/context.py", "/jobs/rates.py")
    assert [one.filename for one in own_frames(given, LIBRARIES)] == ["/jobs/daily.py", "/jobs/rates.py"]


def test_of_many_frames_the_innermost_are_told():
    given = frames(*(f"/jobs/{number}.py" for number in range(9)))
    assert [one.filename for one in own_frames(given, LIBRARIES)] == [f"/jobs/{number}.py" for number in range(4, 9)]


def test_an_error_in_a_task_is_told_with_the_lines_of_the_task():
    lines = [
        '  File "/jobs/daily.py", line 9, in rate',
        '    return row["clicks"] / row["views"]',
        "           ~~~~~~~~~~~~~~^~~~~~~~~~~~~",
    ]
    assert of_spark(IN_A_TASK, LIBRARIES) == (lines, "ZeroDivisionError: division by zero")


def test_of_errors_in_java_the_innermost_cause_is_told():
    sentence = 'PSQLException: FATAL: password authentication failed for user "glue"'
    assert of_spark(IN_JAVA, LIBRARIES) == ([], sentence)


def test_a_text_without_a_cause_is_left_as_it_is():
    assert of_spark("An error occurred while calling o23.sc", LIBRARIES) == ([], "")


def test_an_error_of_ours_keeps_its_sentence_and_gets_the_line_that_led_to_it(tmp_path):
    script = tmp_path / "job.py"
    script.write_text("def read(refuse):\n    refuse()\n")
    names: dict = {}
    exec(compile(script.read_text(), str(script), "exec"), names)

    def refuse():
        raise ConfigError("windowSize is missing")

    with pytest.raises(ConfigError) as raised:
        names["read"](refuse)
    lines, sentence = told(raised.value)
    at = lines.index(f'  File "{script}", line 2, in read')
    assert (lines[at + 1], sentence) == ("    refuse()", "windowSize is missing")


def test_an_error_of_strict_casts_names_the_option_for_scripts_of_older_versions():
    text = '[CAST_INVALID_INPUT] The value \'x\' of the type "STRING" cannot be cast to "INT". SQLSTATE: 22018'

    assert with_hint("NumberFormatException", text).endswith("add --glue-version 5.1.")
    assert with_hint("DateTimeException", "[CAST_INVALID_INPUT.WITH_SUGGESTION] ...").endswith("--glue-version 5.1.")
    assert with_hint("AnalysisException", "[UNRESOLVED_COLUMN] ...") == "AnalysisException"


def test_a_column_of_a_streams_records_that_is_not_there_comes_with_the_option_that_adds_it():
    text = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `topic` cannot be resolved. Did you mean [`id`]?"

    assert with_hint("AnalysisException", text).endswith('add "addRecordColumns": "topic" to its options.')
    assert with_hint("AnalysisException", text.replace("`topic`", "`total`")) == "AnalysisException"


def test_a_column_that_an_inferred_stream_lacks_is_told_with_the_one_it_has():
    text = (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `data` cannot be"
        " resolved. Did you mean one of the following? [`$json$data_infer_schema$_temporary$`]. SQLSTATE: 42703;"
    )
    told_now = with_hint("AnalysisException", text)
    assert told_now.startswith("The stream has no column data, because with inferSchema its only column is $json$data_")
    assert "F.from_json(F.col('$json$data_infer_schema$_temporary$'), schema)" in told_now


def test_a_call_into_a_jvm_that_has_ended_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))

    with pytest.raises((ConnectionError, Py4JNetworkError)) as failed:
        gateway.jvm.System.nanoTime()

    lines, sentence = told(failed.value)
    assert lines
    assert sentence.startswith("Spark's JVM has ended, and the job with it;")


def test_a_connection_that_somebody_else_refused_is_told_as_it_is():
    with pytest.raises(ConnectionRefusedError) as failed:
        socket.create_connection(("127.0.0.1", 1), timeout=5)

    assert "JVM" not in told(failed.value)[1]


def test_a_syntax_error_is_told_with_file_and_line(tmp_path):
    path = tmp_path / "job.py"
    path.write_text("x = 1\nif x\n")
    with pytest.raises(SyntaxError) as caught:
        compile(path.read_text(), str(path), "exec")
    assert told(caught.value)[1] == "SyntaxError: expected ':' (job.py, line 2)"
