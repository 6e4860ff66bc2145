from gluepot.streaming.quarantine.failure_text import LONGEST_CHARS, failure_text

OUT_OF_JAVA = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times
Traceback (most recent call last):
  File "worker.py", line 3259, in main
    process()
  File "job.py", line 12, in <lambda>
    return row["price"] * 2
           ~~~^^^^^^^^^
KeyError: 'price'

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
Driver stacktrace:
"""


def test_an_exception_is_its_type_and_its_message():
    assert failure_text(ValueError("no price")) == "ValueError: no price"


def test_of_several_lines_the_first_one_that_says_something_counts():
    assert failure_text(RuntimeError("\n\nJob aborted\nat java.lang.Thread")) == "RuntimeError: Job aborted"


def test_what_a_worker_raised_is_found_between_the_stacks():
    assert failure_text(RuntimeError(OUT_OF_JAVA)) == "KeyError: 'price'"


def test_of_a_chain_of_exceptions_the_last_one_counts():
    chained = OUT_OF_JAVA.replace("KeyError: 'price'\n", "KeyError: 'price'\n\nDuring handling\n\n") + (
        "Traceback (most recent call last):\n  File x\nValueError: bad row\n"
    )
    assert failure_text(RuntimeError(chained)) == "ValueError: bad row"


def test_a_text_without_end_is_cut():
    assert len(failure_text(ValueError("x" * 1_000_000))) == LONGEST_CHARS
