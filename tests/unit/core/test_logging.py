import io
import json
import logging
import threading

import pytest
import structlog

from gluepot.core import logging as logs
from gluepot.core.errors import ConfigError


@pytest.fixture(autouse=True)
def _restored():
    before = {name: (log.handlers, log.level, log.propagate) for name, log in foreign_loggers()}
    logs._process_context.clear()  # a test before may have begun a run
    yield
    structlog.reset_defaults()
    logs._process_context.clear()
    for name, log in foreign_loggers():
        log.handlers, log.level, log.propagate = before[name]


def foreign_loggers():
    return [(name, logging.getLogger(name)) for name in logs.FOREIGN_LOGGERS]


@pytest.fixture
def lines(capsys):
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_an_event_with_key_values_time_level_and_logger(lines):
    logs.configure(json=True)
    logs.get_logger("gluepot.streaming.query.run").info("batch_done", rows=5)
    [line] = lines()
    assert line.pop("ts").endswith("Z")
    assert line == {"msg": "batch_done", "level": "info", "logger": "gluepot.streaming.query.run", "rows": 5}


def test_lines_are_json_when_stderr_is_no_terminal(lines):
    logs.configure()
    logs.get_logger("x").warning("careful")
    assert lines()[0]["msg"] == "careful"


def test_lines_are_for_a_person_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    logs.configure()
    logs.get_logger("x").warning("careful", rows=5)
    line = capsys.readouterr().err
    assert "careful" in line
    assert not line.startswith("{")


def test_a_logger_made_before_the_configuration_follows_it(lines):
    logger = logs.get_logger("early")
    logs.configure(json=True)
    logger.info("hello")
    assert lines()[0]["logger"] == "early"


def test_levels_below_the_chosen_one_are_silent(lines):
    logs.configure(json=True, level="warning")
    logs.get_logger("x").info("planned")
    logs.get_logger("x").error("broken")
    assert [line["msg"] for line in lines()] == ["broken"]


def test_an_unknown_level_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="'loud' is not known; use one of DEBUG, INFO"):
        logs.configure(level="loud")


def test_what_glue_documents_of_its_logger_is_there(lines):
    logs.configure(json=True)
    logger = logs.get_logger("script")
    logger.info("100% done")
    logger.warn("w")  # noqa: G010  the name AWS documents
    logger.error("e")
    assert [(line["level"], line["msg"]) for line in lines()] == [
        ("info", "100% done"),
        ("warning", "w"),
        ("error", "e"),
    ]


def test_process_context_reaches_every_thread_and_batch_context_its_own(lines):
    logs.configure(json=True)
    logs.bind_process(job="clicks", run_id="jr_1")
    logger = logs.get_logger("x")
    with logs.bind_context(query="q", batch=3):
        logger.info("here")
        thread = threading.Thread(target=logger.info, args=("elsewhere",))
        thread.start()
        thread.join()
    logger.info("after")
    here, elsewhere, after = lines()
    assert (here["job"], here["run_id"], here["query"], here["batch"]) == ("clicks", "jr_1", "q", 3)
    assert elsewhere["job"] == after["job"] == "clicks"
    assert "query" not in elsewhere
    assert "query" not in after


def test_secrets_are_masked_in_the_line(capsys):
    logs.configure(json=True)
    logs.get_logger("x").info("connect", options={"kafka.sasl.jaas.config": "hunter2"}, password="hunter2")
    line = capsys.readouterr().err
    assert "hunter2" not in line
    assert line.count("***") == 2


def test_an_exception_is_one_key_unless_verbose(lines):
    logs.configure(json=True)
    log_a_failure()
    [line] = lines()
    assert line["error"] == "ZeroDivisionError: division by zero"
    assert "exception" not in line


def test_verbose_lines_have_the_stack_trace(lines):
    logs.configure(json=True, verbose=True)
    log_a_failure()
    assert "Traceback (most recent call last)" in lines()[0]["exception"]


def test_verbose_traces_for_a_person_show_no_local_variables(capsys):
    logs.configure(json=False, verbose=True)
    log_a_failure()
    text = capsys.readouterr().err
    assert "Traceback (most recent call last)" in text
    assert "42000006" not in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x1b]0;title\x07", r"a\x1b]0;title\x07"),
        ("a\x9b2Jb", r"a\x9b2Jb"),
        ("a\nforged\r", r"a\nforged\r"),
        ("a\u202eb", r"a\u202eb"),
        (["a\x1b[2J"], r"['a\x1b[2J']"),
        ("Zürich 東京", "Zürich 東京"),
    ],
)
def test_control_characters_in_values_are_escaped_on_a_terminal(capsys, value, shown):
    logs.configure(json=False)
    logs.get_logger("x").info("read", value=value)
    line = capsys.readouterr().err
    assert shown in line
    assert line.removesuffix("\n").isprintable()


def test_control_characters_in_names_messages_and_traces_are_escaped_on_a_terminal(capsys):
    logs.configure(json=False, verbose=True)
    try:
        int("\x1b[2J\n")
    except ValueError as error:
        failed = error
    logs.get_logger("\x1b[2J").error("\x1b[2J", exc_info=failed, **{"\x1b[2J": 1})
    written = capsys.readouterr().err
    assert "\x1b" not in written
    assert written.count("\\x1b[2J") >= 4
    assert "Traceback (most recent call last):\n" in written


def test_an_exception_may_be_given_as_a_value(lines):
    logs.configure(json=True)
    logs.get_logger("x").error("failed", exc_info=ValueError("bad"))
    assert lines()[0]["error"] == "ValueError: bad"


@pytest.mark.parametrize("name", ["py4j.clientserver", "pyspark.sql"])
def test_foreign_warnings_come_in_the_same_shape_once(lines, name):
    logs.configure(json=True)
    logs.configure(json=True)
    logs.bind_process(job="clicks")
    logging.getLogger(name).warning("connection %s lost", 7)
    logging.getLogger(name).info("noise")
    [line] = lines()
    assert line.pop("ts")
    assert line == {"msg": "connection 7 lost", "level": "warning", "logger": name, "job": "clicks"}


@pytest.mark.parametrize("verbose", [False, True])
def test_an_error_of_a_batch_function_is_left_to_the_query_that_tells_it(lines, verbose):
    logs.configure(json=True, verbose=verbose)
    said = "There was an exception while executing the Python Proxy on the Python Side."
    logging.getLogger("py4j.clientserver").error(said)
    assert [line["msg"] for line in lines()] == [said] * verbose


def test_a_foreign_exception_is_one_key_too(lines):
    logs.configure(json=True)
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        logging.getLogger("py4j").exception("failed")
    [line] = lines()
    assert line["error"] == "ZeroDivisionError: division by zero"


def test_the_root_logger_stays_the_scripts():
    handlers = list(logging.getLogger().handlers)
    logs.configure(json=True)
    assert logging.getLogger().handlers == handlers


def test_configure_once_respects_what_was_configured_before(lines):
    logs.configure(json=True, level="ERROR")
    logs.configure_once()
    logs.get_logger("x").info("silent")
    assert lines() == []


def test_configure_once_configures_when_nobody_did(lines):
    structlog.reset_defaults()
    logs.configure_once()
    logs.get_logger("x").info("hello")
    assert lines()[0]["msg"] == "hello"


def test_lines_go_to_what_stderr_is_now(capsys, monkeypatch):
    logs.configure(json=True)
    replaced = io.StringIO()
    monkeypatch.setattr("sys.stderr", replaced)
    logs.get_logger("x").info("ours")
    logging.getLogger("py4j").warning("foreign")
    assert capsys.readouterr().err == ""
    assert [json.loads(line)["msg"] for line in replaced.getvalue().splitlines()] == ["ours", "foreign"]


def log_a_failure():
    password = 6 * 7_000_001
    try:
        _ = password / 0
    except ZeroDivisionError:
        logs.get_logger("x").exception("failed")


@pytest.mark.parametrize("verbose", [False, True])
def test_secrets_within_messages_and_errors_are_masked(capsys, verbose):
    logs.configure(json=True, verbose=verbose)
    failed = ConfigError("login failed for password=hunter2")
    logs.get_logger("x").error("jdbc://me:hunter2@db failed", reason="token: hunter2", exc_info=failed)
    shown = capsys.readouterr().err
    assert "failed" in shown
    assert "hunter2" not in shown


class FullDisk(io.StringIO):
    def write(self, _):
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("as_json", [True, False])
def test_a_line_that_cannot_be_written_ends_nothing(monkeypatch, as_json):
    heard = []
    monkeypatch.setattr("sys.stderr", FullDisk())
    logs.configure(json=as_json)
    with logs.heard_by(heard.append):
        logs.get_logger("x").warning("careful")
        logging.getLogger("py4j").warning("careful")
    assert [line["event"] for line in heard] == ["careful", "careful"]


def test_a_closed_stderr_ends_nothing(monkeypatch):
    closed = io.StringIO()
    monkeypatch.setattr("sys.stderr", closed)
    logs.configure(json=True)
    closed.close()
    logs.get_logger("x").warning("careful")


def test_a_listener_that_fails_keeps_no_line_back(lines):
    def fail(event):
        raise KeyError("event")

    logs.configure(json=True)
    with logs.heard_by(fail):
        logs.get_logger("x").warning("careful")
    assert [line["msg"] for line in lines()] == ["careful"]
