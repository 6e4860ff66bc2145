import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gluepot.core.errors import PermanentError
from gluepot.streaming.query.thread_failures import ThreadFailures


@pytest.fixture
def failures():
    return ThreadFailures()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def fails(failures, stream="orders"):
    with failures.watched(stream):
        raise OSError("no broker")


def works(failures, stream="orders"):
    with failures.watched(stream):
        pass


def test_a_stream_that_failed_in_a_pool_ends_the_job_although_nobody_asks_for_the_result(failures, pool):
    pool.submit(fails, failures).exception()

    with pytest.raises(PermanentError, match=r"did not run to its end \(orders\): OSError: no broker"):
        failures.raise_first()


def test_a_stream_that_runs_after_a_failure_makes_up_for_it(failures, pool):
    pool.submit(fails, failures).exception()
    pool.submit(works, failures, "another").result()
    pool.submit(works, failures).result()

    failures.raise_first()


def test_what_fails_in_the_thread_of_the_script_is_its_own_business(failures):
    with pytest.raises(OSError, match="no broker"):
        fails(failures)

    failures.raise_first()


def started(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name="reader")
    thread.start()
    thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_exception_that_ends_a_thread_ends_the_other_streams(failures):
    def reads_then_fails():
        works(failures)
        raise KeyError("column")

    stopped = []
    with failures.uncaught(lambda: stopped.append(True)):
        started(reads_then_fails)

    assert stopped == [True]
    with pytest.raises(PermanentError, match=r"thread reader.*KeyError"):
        failures.raise_first()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_without_a_stream_is_the_scripts_own_business(failures):
    before, stopped = threading.excepthook, []
    with failures.uncaught(lambda: stopped.append(True)):
        started(lambda: 1 / 0)

    assert (stopped, threading.excepthook) == ([], before)
    failures.raise_first()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(("code", "is_failure"), [(None, False), (0, False), (1, True)])
def test_a_thread_may_end_with_sys_exit(failures, code, is_failure):
    def reads_then_exits():
        works(failures)
        sys.exit(code)

    stopped = []
    with failures.uncaught(lambda: stopped.append(True)):
        started(reads_then_exits)

    assert stopped == [True] * is_failure


@pytest.mark.parametrize("way", ["thread", "daemon that reads", "pool"])
def test_the_script_ends_with_its_threads(failures, way):
    reads, goes_on, done = threading.Event(), threading.Event(), []

    def read():
        with failures.watched("orders"):
            reads.set()
            goes_on.wait(60)
            done.append(way)

    pool = ThreadPoolExecutor(1)
    with failures.uncaught(lambda: None):
        if way == "pool":
            pool.submit(read)
        else:
            threading.Thread(target=read, daemon=way != "thread").start()
        reads.wait(60)
        threading.Timer(0.02, goes_on.set).start()
        failures.wait()  # an idle thread of a pool does not hold it up

    assert done == [way]
    pool.shutdown()


def test_nobody_waits_for_threads_that_were_there_before_and_for_idle_daemons(failures):
    ends = threading.Event()
    before = threading.Thread(target=ends.wait)
    before.start()
    with failures.uncaught(lambda: None):
        threading.Thread(target=ends.wait, daemon=True).start()
        failures.wait()
    ends.set()
    before.join()


def test_a_stream_that_a_thread_opened_and_nobody_read_ends_the_job(failures, pool):
    pool.submit(failures.opened, "kafka orders", lambda: False).result()

    with pytest.raises(PermanentError, match=r"opened a stream and never read it \(kafka orders\)"):
        failures.raise_first()


def test_a_stream_of_the_script_that_a_thread_should_have_read_ends_the_job(failures, pool):
    failures.opened("kafka orders", lambda: False)
    failures.opened("kafka clicks", lambda: True)
    pool.submit(works, failures, "kafka clicks").result()

    with pytest.raises(PermanentError, match="kafka orders"):
        failures.raise_first()


def test_a_script_without_threads_may_open_a_stream_for_a_look(failures):
    failures.opened("kafka orders", lambda: False)

    failures.raise_first()
