"""The page and its actions, asked in this process without a socket."""

from __future__ import annotations

import asyncio
import re
from html import unescape

import httpx
import pytest

from gluepot.core.clock import FakeClock
from gluepot.ops.pages import application
from gluepot.quality.outcomes import RuleOutcome
from gluepot.web.render import CONTENT_SECURITY_POLICY
from tests.ops_scene import COMPLETE, EVIL, UNMET, Scene, advice, column

TOKEN = "0123456789abcdef"
OURS = "http://127.0.0.1"


class Browser:
    """Keeps cookies and says where its requests come from, as browsers do."""

    def __init__(self, scene: Scene, token: str | None = None, origin: str = OURS) -> None:
        self._transport = httpx.ASGITransport(application(scene.job, token))
        self._cookies = httpx.Cookies()
        self._origin = origin

    def get(self, page: str, **headers: str) -> httpx.Response:
        return asyncio.run(self._ask("GET", page, {"Accept": "text/html", **headers}))

    def post(self, page: str, headers: dict[str, str] | None = None, **fields: str) -> httpx.Response:
        return asyncio.run(self._ask("POST", page, {"Origin": self._origin, **(headers or {})}, fields))

    def secret(self) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', self.get("/").text)
        assert found
        return found[1]

    async def _ask(self, method, page, headers, fields=None) -> httpx.Response:
        async with httpx.AsyncClient(transport=self._transport, base_url=OURS, cookies=self._cookies) as client:
            answer = await client.request(method, page, headers=headers, data=fields)
            self._cookies.update(client.cookies)
            return answer


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, FakeClock(1_000_000.0))


@pytest.fixture
def running(scene):
    scene.begin()
    scene.batch(6)
    scene.clock.sleep(5.0)
    scene.batch(7)
    return scene


def text(answer: httpx.Response) -> str:
    """What a reader sees: without tags, with single spaces."""
    shown = re.sub(r"<script[^>]*>.*?</script>", " ", answer.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", shown)))


def test_before_the_first_query_the_page_says_what_it_waits_for(scene):
    shown = text(Browser(scene).get("/"))
    assert "The script has started no streaming query yet." in shown
    assert "No batch has been committed since the run began." in shown


def test_the_answer_comes_first_with_its_numbers(running):
    shown = text(Browser(running).get("/"))
    assert "On time Batch 7 took 2 s, 40 % of its 5 s window, and 160 records wait." in shown
    assert "Lag 160 records, the newest read 1.4 s old" in shown
    assert "Input 2,000 rows/s 10.0 k rows, 3.20 MB" in shown


def test_every_part_shows_what_the_batches_brought(running):
    running.advice["clicks"] = advice(running.clock.epoch())
    running.batch(8, column_changes=[column("price", "double", "int64"), column("coupon", "string")])
    running.page.log.take({"ts": "2026-01-01T10:20:30Z", "level": "warning", "event": "lag_unknown", "reason": "away"})
    shown = text(Browser(running).get("/"))
    for part in (
        "Batch 8, phase by phase",
        "parse 1.1 s 39 %",
        "country=PT/run-8-0.parquet 4,999 rows · 206 kB · batch 8",
        "price int64 → double",
        "coupon is new, string",
        "clicks 0 45000 5,000 120 1.4 s",
        "Leave it at 1 worker A batch takes 2.1 s",
        "windowSize 5 s forEachBatch options",
        "batchMaxRetries 3 default",
        "master local[4] command line",
        "10:20:30 warning lag_unknown reason=away",
    ):
        assert part in shown


def test_phases_are_those_of_the_batch_that_is_asked_for(running):
    assert "Batch 6, phase by phase" in text(Browser(running).get("/?query=clicks&batch=6"))


@pytest.mark.parametrize("batch", ["99", "x", "-1", ""])
def test_a_batch_that_is_forgotten_or_none_is_the_newest(running, batch):
    assert "Batch 7, phase by phase" in text(Browser(running).get(f"/?query=clicks&batch={batch}"))


def test_rejected_records_are_shown_with_bytes_that_do_nothing(running):
    running.page.records.run = lambda work: work()
    running.rejects(8, EVIL, b"\xff\x00")
    answer = Browser(running).get("/")
    assert "<script>alert" not in answer.text
    shown = text(answer)
    assert r'{"id": 7, "name": "<script>alert(1)</script>\x1b[2J' in shown
    assert r"\xff\x00" in shown
    assert "clicks-1 at 4711" in shown


def test_a_page_does_not_wait_until_records_are_read(running):
    running.page.records.run = lambda _: None
    running.rejects(8, EVIL)
    assert "Being read …" in text(Browser(running).get("/"))


def test_before_the_first_check_the_page_says_that_there_was_none(running):
    assert "No check of data quality was made since the run began." in text(Browser(running).get("/"))


def test_the_newest_check_of_each_context_shows_its_rules_failed_ones_first(running):
    running.check(UNMET)
    running.check(COMPLETE, UNMET)
    running.check(COMPLETE, context="quarantine", rows=3)
    shown = text(Browser(running).get("/"))
    assert (
        "before the write 1 of 2 rules passed, 9,998 rows, 13:46:45 Rule Outcome Reason Metrics"
        ' ColumnValues "amount" > 0 Failed Value: -3.0 does not meet the constraint requirement!'
        ' Column.amount.Minimum = -3 IsComplete "id" Passed \N{EN DASH} Column.id.Completeness = 1'
    ) in shown
    assert shown.index("before the write") < shown.index("quarantine 1 of 1 rules passed, 3 rows")


def test_checks_show_without_a_query_and_with_texts_that_do_nothing(scene):
    evil = RuleOutcome("<script>alert(1)</script>", False, "<b>" * 1_000, {"<i>": float("nan")}, "")
    scene.check(*[evil] * 50, context="<u>")
    answer = Browser(scene).get("/")
    assert not re.search("<script>alert|<b><b>|<i>|<u>", answer.text)
    shown = text(answer)
    assert "<u> 0 of 50 rules passed" in shown
    assert "40 of 50 rules, those that failed first." in shown
    assert "<i> = nan" in shown


def test_only_the_newest_contexts_are_remembered(scene):
    for number in range(100):
        scene.check(COMPLETE, context=f"context {number}")
    assert [one.context for one in scene.page.checks.newest_first()] == [f"context {n}" for n in range(99, 75, -1)]


def test_names_from_outside_are_escaped(scene):
    scene.begin("<b>&")
    scene.begin("other")
    answer = Browser(scene).get("/?query=%3Cb%3E%26")
    assert "<b>&" not in answer.text
    assert 'href="/?query=%3Cb%3E%26"' in answer.text


def test_of_several_queries_the_one_that_is_worst_off_is_shown_first(running):
    running.begin("orders")
    running.streams.status.tell("orders", failures_in_a_row=2)
    browser = Browser(running)
    assert "2 attempts failed since the last good batch" in text(browser.get("/"))
    assert "Batch 7 took" in text(browser.get("/?query=clicks"))


def test_an_update_brings_pieces_that_take_the_place_of_old_ones(running):
    answer = Browser(running).get("/live?query=clicks")
    assert re.findall(r'id="(\w+)"[^>]*hx-swap-oob', answer.text) == ["tabs", "now", "series", "details", "log"]


def test_nothing_from_elsewhere_may_run_on_the_page_and_nobody_may_frame_it(running):
    for path in ("/", "/live", "/static/page.js"):
        assert Browser(running).get(path).headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    page = Browser(running).get("/").text
    assert not re.search(r'<script(?! defer src="/static/| src="/static/)', page)
    assert "style=" not in page
    assert not re.search(r'(?:src|href|action)="(?!/|#)', page)


def test_files_of_the_page_are_served_and_no_others(running):
    browser = Browser(running)
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', browser.get("/").text):
        assert browser.get(name).status_code == 200
    assert browser.get("/static/..%2Frender.py").status_code == 404
    assert browser.get("/static/htmx-LICENSE.txt").status_code == 404


def test_pause_and_resume_are_asked_of_the_query(running):
    browser = Browser(running)
    answer = browser.post("/pause", csrf=browser.secret(), query="clicks")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?query=clicks")
    assert running.streams.pauses.hold("clicks")
    assert "Pausing" in text(browser.get("/"))
    running.streams.status.tell("clicks", paused=True)
    assert "Paused No batch begins until somebody resumes the query." in text(browser.get("/"))
    browser.post("/resume", csrf=browser.secret(), query="clicks")
    assert not running.streams.pauses.hold("clicks")


def test_stop_ends_the_job_and_is_said(running):
    browser = Browser(running)
    browser.post("/stop", csrf=browser.secret(), query="clicks")
    assert running.streams.stop.is_set()
    assert "The running batch is committed; then the job ends." in text(browser.get("/"))


def test_an_action_of_the_page_answers_with_what_changed(running):
    browser = Browser(running)
    answer = browser.post("/pause", {"HX-Request": "true"}, csrf=browser.secret(), query="clicks")
    assert (answer.status_code, "Resume" in answer.text) == (200, True)


@pytest.mark.parametrize("query", ["", "nobody"])
def test_only_a_query_that_runs_pauses(running, query):
    browser = Browser(running)
    assert browser.post("/pause", csrf=browser.secret(), query=query).status_code == 404


ACTIONS = pytest.mark.parametrize("action", ["/pause", "/resume", "/stop"])


def unchanged(scene: Scene) -> bool:
    return not scene.streams.stop.is_set() and not scene.streams.pauses.hold("clicks")


@ACTIONS
def test_looking_changes_nothing(running, action):
    assert Browser(running).get(action).status_code == 405
    assert unchanged(running)


@ACTIONS
@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:81", "null", ""])
def test_another_page_changes_nothing_even_with_the_secret(running, action, origin):
    secret = Browser(running).secret()
    assert Browser(running, origin=origin).post(action, csrf=secret, query="clicks").status_code == 403
    assert unchanged(running)


@ACTIONS
@pytest.mark.parametrize("secret", ["", "guess"])
def test_a_request_without_the_secret_changes_nothing(running, action, secret):
    assert Browser(running).post(action, csrf=secret, query="clicks").status_code == 403
    assert unchanged(running)


def test_a_browser_that_says_another_site_asks_is_believed(running):
    browser = Browser(running)
    answer = browser.post("/pause", {"Sec-Fetch-Site": "cross-site"}, csrf=browser.secret(), query="clicks")
    assert answer.status_code == 403


@pytest.mark.parametrize("page", ["/", "/live"])
def test_without_a_token_a_foreign_name_of_this_machine_is_refused(running, page):
    answer = Browser(running).get(page, Host="rebound.example")
    assert (answer.status_code, "set GLUEPOT_METRICS_TOKEN" in answer.text) == (421, True)


def test_a_large_form_is_not_read_to_its_end(running):
    assert Browser(running).post("/pause", csrf="x" * 5_000, query="clicks").status_code == 413


def test_a_reader_without_the_token_is_asked_for_it_once(running):
    browser = Browser(running, TOKEN)
    sent_on = browser.get("/")
    assert (sent_on.status_code, sent_on.headers["Location"]) == (303, "/login")
    assert 'name="token"' in browser.get("/login").text
    answer = browser.post("/login", token=TOKEN)
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert "SameSite=strict" in answer.headers["Set-Cookie"]
    assert TOKEN not in answer.headers["Set-Cookie"]
    assert "On time" in text(browser.get("/"))
    browser.post("/pause", csrf=browser.secret(), query="clicks")
    assert running.streams.pauses.hold("clicks")


def test_a_wrong_token_opens_nothing(running):
    browser = Browser(running, TOKEN)
    answer = browser.post("/login", token="wrong")
    assert (answer.status_code, "That is not the token" in text(answer)) == (401, True)
    assert "Set-Cookie" not in answer.headers
    assert browser.get("/live").status_code == 401


def test_the_form_for_the_token_takes_it_from_our_page_alone(running):
    assert Browser(running, TOKEN, origin="http://evil.example").post("/login", token=TOKEN).status_code == 403


@ACTIONS
def test_without_the_token_nothing_changes(running, action):
    assert Browser(running, TOKEN).post(action, query="clicks").status_code == 401
    assert unchanged(running)


def test_a_program_with_the_token_needs_no_page(running):
    program = Browser(running, TOKEN, origin="")
    program.post("/pause", {"Authorization": f"Bearer {TOKEN}"}, query="clicks")
    assert running.streams.pauses.hold("clicks")
