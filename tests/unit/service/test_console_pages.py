"""The console, asked in this process without a socket: login, forged requests, escaping, headers, secrets."""

import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gluepot.bookmarks.ledger import Change, Owner, RunStart, open_ledger
from gluepot.servers.process import identify
from gluepot.servers.state import ServerState, server_folder, write_state
from gluepot.service.console import first_rows
from gluepot.service.console.app import ACTIONS
from gluepot.service.console.pages import PAGES, Reader
from gluepot.service.console.sessions import MOST_WRONG_LOGINS, SESSION_SECS, WRONG_LOGINS_SECS
from gluepot.service.console.values import url
from gluepot.service.operations import operations_of
from gluepot.web.render import HEADERS
from tests.console_scene import CANARY, EVIL, KEY, WORKFLOW, Scene
from tests.unit.service.world import World

OURS = "http://127.0.0.1"
ORIGIN = {"Origin": OURS}


def browser(scene, base_url=OURS):
    return TestClient(scene.app, base_url=base_url, follow_redirects=False)


def entered(scene):
    client = browser(scene)
    assert client.get(scene.link()).headers["location"] == "/console/"
    return client


def csrf_of(client):
    return re.search(r'name="csrf" value="([^"]+)"', client.get("/console/").text)[1]


def press(client, action, headers=ORIGIN, csrf=None, **fields):
    csrf = csrf_of(client) if csrf is None else csrf
    return client.post(url(action), data={"csrf": csrf, **fields}, headers=headers)


def words(answer):
    """Return the text of a page as a reader sees it."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


@pytest.fixture(scope="module")
def filled(tmp_path_factory, empty_database):
    """A service in which a day has happened; tests only read it."""
    folder = tmp_path_factory.mktemp("console")
    shutil.copy(empty_database, folder / "service.db")
    return Scene.at(folder).fill()


@pytest.fixture
def scene(world: World, tmp_path):
    world.service.environ["GLUEPOT_CATALOG"] = f"sqlite:///{tmp_path / 'catalog.db'}"
    return Scene(world)


def addresses(scene):
    """Return an address of every page."""
    run, failed = scene.world.runs("orders_daily")[0]["Id"], scene.world.runs("orders_daily")[-1]["Id"]
    of_workflow = scene.world.call("GetWorkflowRuns", Name=WORKFLOW)["Runs"][0]["WorkflowRunId"]
    log = {"job": "orders_daily", "id": failed, "stream": "error"}
    log_of_crawl = {"crawler": "lake", "id": scene.crawl_ids()[-1], "stream": "output"}
    found = {
        "job": [url("job", name="orders_daily"), url("job", name=EVIL)],
        "run": [url("run", job="orders_daily", id=run), url("run", job="orders_daily", id=failed)],
        "bookmark": [url("bookmark", job="orders_daily")],
        "runs": [url("runs"), url("runs", state="failed"), url("runs", state="active")],
        "log": [url("log", **log), url("log", **log_of_crawl)],
        "whole-log": [url("whole-log", **log), url("whole-log", **log, at=99), url("whole-log", **log_of_crawl)],
        "trigger": [url("trigger", name="hourly"), url("trigger", name="loaded"), url("trigger", name="by hand")],
        "workflow": [url("workflow", name=WORKFLOW)],
        "workflow-run": [url("workflow-run", name=WORKFLOW, id=of_workflow)],
        "crawler": [url("crawler", name="lake")],
        "crawl": [url("crawl", crawler="lake", id=one) for one in scene.crawl_ids()],
        "quality-result": [url("quality-result", id=one) for one in scene.result_ids()],
        "database": [url("database", name="sales")],
        "table": [
            url("table", database="sales", name="orders"),
            url("table", database="sales", name="orders", version=1),
        ],
        "rows": [url("rows", database="sales", name="customers")],
        "connection": [url("connection", name="orders-db")],
    }
    return [address for page in PAGES for address in found.get(page, [url(page)])]


def test_every_page_is_escaped_has_all_headers_and_shows_no_secret(filled):
    client = entered(filled)
    for address in addresses(filled):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert all(answer.headers[name] == value for name, value in HEADERS.items()), address
        assert CANARY not in answer.text, address
        assert "<script>alert" not in answer.text, address
        assert not re.search(r"<[^>]*\s(on\w+|style)=", answer.text), address


def test_policy_allows_scripts_of_files_only():
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert (HEADERS["X-Frame-Options"], HEADERS["X-Content-Type-Options"]) == ("DENY", "nosniff")


def test_the_overview_tells_what_runs_what_failed_and_what_fires_next(filled):
    shown = words(entered(filled).get("/console/"))
    assert "Running 2 job runs Waiting 1 for room in a queue Workflows 1 runs that go on Next firing in 10:11" in shown
    assert re.search(r"Failed lately .* load_customers Failed .* orders_daily Failed .* attempt 2", shown)
    assert "nightly-start 2026-03-03 02:30:00 in 10:40 h cron(30 2 * * ? *) workflow nightly" in shown


def test_a_run_shows_its_attempts_its_error_its_arguments_and_its_log(filled):
    run_id = filled.world.runs("orders_daily")[-1]["Id"]
    shown = words(entered(filled).get(url("run", job="orders_daily", id=run_id)))
    assert f"{run_id} Failed Command failed with exit code 1" in shown
    assert "First attempt Failed" in shown
    assert "Retry 2 Failed" in shown
    assert "--db-password *** the job" in shown
    assert "--url jdbc:x://***@db/orders the job" in shown
    assert "12:20:03 warning no_bookmark context=orders Traceback" in shown
    assert "connect(password=***) error: ValueError: The column day is missing." in shown


def test_the_graph_of_a_run_tells_states_in_words(filled):
    run_id = filled.world.call("GetWorkflowRuns", Name=WORKFLOW)["Runs"][1]["WorkflowRunId"]
    text = entered(filled).get(url("workflow-run", name=WORKFLOW, id=run_id)).text
    assert re.findall(r'aria-label="(\S+ (?:Job|Trigger) · [^"]+)"', text) == [
        "checked Trigger · Not fired",
        "extracted Trigger · Fired",
        "loaded Trigger · Not fired",
        "nightly-start Trigger · Fired",
        "check Job · Not started",
        "publish Job · Not started",
        "extract Job · Succeeded",
        "load_orders Job · Succeeded",
        "load_customers Job · Failed",
    ]
    assert "Completed, with failures" in text


def test_a_table_shows_columns_versions_and_partitions(filled):
    client = entered(filled)
    shown = words(client.get(url("table", database="sales", name="orders")))
    assert f"2 amount decimal(10,2) \N{EN DASH} {EVIL}" in shown
    assert "4 day date yes" in shown
    assert "2026-02-28 s3://lake/sales/orders/day=28" in shown
    assert "Version 2" in shown
    assert "Version 0" in shown
    older = words(client.get(url("table", database="sales", name="orders", version="1")))
    assert "orders, version 1" in older
    assert "struct<street" not in older.partition("Details")[0]


def test_a_crawler_shows_its_targets_its_schedule_and_its_crawls(filled):
    client = entered(filled)
    listed = words(client.get(url("crawlers")))
    assert re.search(
        r"lake Ready Failed .* sales cron\(15 23 \* \* \? \*\) The bucket .* Crawl$", listed.partition(" Times are")[0]
    )
    shown = words(client.get(url("crawler", name="lake")))
    assert "Next crawl 2026-03-02 23:15:00" in shown
    assert "1 table added, 3 partitions added" in shown
    assert "S3 s3://***@lake/sales **.tmp" in shown


def test_a_crawl_shows_what_it_changed_and_its_log(filled):
    client = entered(filled)
    failed, done = filled.crawl_ids()
    shown = words(client.get(url("crawl", crawler="lake", id=done)))
    assert f"{done} Completed" in shown
    assert "Added: 1 table sales.orders Added: 3 partitions" in shown
    assert "/aws-glue/crawlers/lake From the beginning The folder orders became one table." in shown
    assert f"{failed} Failed The bucket says" in words(client.get(url("crawl", crawler="lake", id=failed)))
    for page in ("crawl", "log", "whole-log"):
        assert client.get(url(page, crawler="other", id=done, stream="output")).status_code == 404
        assert client.get(url(page, job="lake", id=done, stream="output")).status_code == 404


def test_a_crawler_is_started_stopped_paused_and_resumed(scene):
    scene.world.call("CreateDatabase", DatabaseInput={"Name": "web"})
    targets = {"S3Targets": [{"Path": "s3://lake/orders"}]}
    given = {"Name": "lake", "Role": "any", "DatabaseName": "web", "Targets": targets}
    scene.world.call("CreateCrawler", **given, Schedule="cron(15 23 * * ? *)")
    client = entered(scene)
    page = url("crawler", name="lake")
    assert press(client, "start-crawler", name="lake").headers["location"] == page
    assert "The crawler lake was started. State" in words(client.get(page))
    assert scene.world.call("GetCrawler", Name="lake")["Crawler"]["State"] == "RUNNING"
    press(client, "start-crawler", name="lake", back=page)
    assert "Crawler with name lake has already started" in words(client.get(page))
    press(client, "stop-crawler", name="lake")
    assert scene.world.call("GetCrawler", Name="lake")["Crawler"]["State"] == "STOPPING"
    press(client, "stop-crawler-schedule", name="lake")
    assert "none; the schedule is paused" in words(client.get(page))
    press(client, "start-crawler-schedule", name="lake")
    assert "Next crawl 2026-03-02 23:15:00" in words(client.get(page))


def test_a_result_of_data_quality_shows_its_rules_and_the_scores_before(filled):
    client = entered(filled)
    newest, failed, _ = filled.result_ids()
    assert re.search(
        r"orders Passed orders_daily 2 of 2 .* orders Failed orders_daily 1 of 2", words(client.get(url("quality")))
    )
    page = client.get(url("quality-result", id=failed))
    shown = words(page)
    assert f"{failed} 1 of 2 rules hold" in shown
    assert f'Failed IsComplete "{EVIL}" password=***' in shown
    assert re.findall(r'class="ran (\w+(?: here)?)"', page.text) == ["good", "bad here", "good"]
    assert client.get(url("quality-result", id=newest)).status_code == 200
    assert client.get(url("quality-result", id="none")).status_code == 404


def test_rows_of_a_table_are_shown_or_it_is_said_why_they_cannot_be(filled, monkeypatch):
    monkeypatch.setattr(first_rows, "_SECS", 300.0)  # this test is about the rows; other tests may leave it little time
    client = entered(filled)
    shown = words(client.get(url("rows", database="sales", name="customers")))
    assert f"# id note seen all 1 1 {EVIL} null" in shown
    assert "x" * 190 in shown
    assert "x" * 201 not in shown
    folder = Path(filled.world.service.environ["GLUEPOT_STATE"]) / "damaged"
    folder.mkdir()
    (folder / "x.parquet").write_bytes(b"PAR1 cut")
    storage = {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": str(folder)}
    damaged = {"Name": "damaged", "StorageDescriptor": storage, "Parameters": {"classification": "parquet"}}
    filled.world.call("CreateTable", DatabaseName="sales", TableInput=damaged)
    answer = client.get(url("rows", database="sales", name="damaged"))
    assert (answer.status_code, "The rows of sales.damaged cannot be read: " in words(answer)) == (200, True)
    assert client.get(url("rows", database="sales", name="none")).status_code == 404
    filled.world.call("DeleteTable", DatabaseName="sales", Name="damaged")


def test_lists_come_in_pages(scene):
    for number in range(60):
        scene.world.job(f"job{number:02}")
    scene.world.job("other")
    client = entered(scene)
    first = client.get(url("jobs")).text
    assert first.count("none yet") == 50
    second = client.get(unescape(re.search(r'href="([^"]+)" rel="next"', first)[1])).text
    assert re.findall(r"(?<=name=)\w+(?=\")", second) == [*(f"job{number}" for number in range(50, 60)), "other"]
    assert 'rel="next"' not in second
    assert "First page" in second
    assert "job07" in client.get(url("jobs", find="b07")).text
    assert "No job has 50% in its name" in words(client.get(url("jobs", find="50%")))


def test_a_followed_log_goes_on_where_it_was(scene):
    scene.world.job("daily")
    run_id = scene.start("daily")
    client = entered(scene)
    scene.log(run_id, "one", "two")
    page = client.get(url("run", job="daily", id=run_id)).text
    ahead = unescape(re.search(r'id="poll-error" data-polls hx-get="([^"]+)"', page)[1])
    scene.log(run_id, "three <b>")
    piece = client.get(ahead).text
    assert "three &lt;b&gt;" in piece
    assert "two" not in piece
    again = unescape(re.search(r'hx-get="([^"]+)"', piece)[1])
    scene.world.end("daily")
    assert client.get(again).text.strip() == ""
    assert "data-polls" not in client.get(url("run", job="daily", id=run_id)).text


@pytest.mark.parametrize("page", [page for page in PAGES if page])
def test_without_a_login_there_is_only_the_form(scene, page):
    client = browser(scene)
    answer = client.get(url(page, name="x"))
    following = {"next": url(page, name="x")}
    assert (answer.status_code, answer.headers["location"]) == (303, url("login", **following))
    assert client.get(url(page), headers={"HX-Request": "true"}).status_code == 401


@pytest.mark.parametrize("path", ["/", "/console", "/console/"])
def test_the_address_of_the_service_leads_to_the_form(scene, path):
    answer = TestClient(scene.app, base_url=OURS).get(path)
    assert answer.status_code == 200
    assert "Access key" in answer.text


def test_a_link_logs_in_once(scene):
    link = scene.link()
    answer = browser(scene).get(link)
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert all(part in cookie for part in ("HttpOnly", "Path=/console/", "SameSite=strict", f"Max-Age={SESSION_SECS}"))
    again = browser(scene).get(link)
    assert again.status_code == 401
    assert "was used before" in again.text
    assert "set-cookie" not in again.headers


def test_a_key_of_the_service_logs_in_and_goes_where_the_reader_wanted(scene):
    client = browser(scene)
    fields = {"key": KEY.id, "secret": KEY.secret, "next": "/console/jobs?find=a"}
    answer = client.post("/console/login", data=fields, headers=ORIGIN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/jobs?find=a")
    assert KEY.secret not in answer.headers["set-cookie"]
    assert f"the access key {KEY.id}" in client.get("/console/").text


@pytest.mark.parametrize("following", ["https://evil.example/", "//evil.example", "/console/\\evil", "/other", ""])
def test_a_login_leads_to_pages_of_the_console_only(scene, following):
    fields = {"key": KEY.id, "secret": KEY.secret, "next": following}
    answer = browser(scene).post("/console/login", data=fields, headers=ORIGIN)
    assert answer.headers["location"] == "/console/"


@pytest.mark.parametrize(("key", "secret"), [(KEY.id, "wrong"), ("unknown", KEY.secret), ("", ""), (KEY.id, "é")])
def test_a_wrong_key_does_not_log_in(scene, key, secret):
    answer = browser(scene).post("/console/login", data={"key": key, "secret": secret}, headers=ORIGIN)
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert "There is no such access key with this secret." in answer.text


def test_whoever_guesses_secrets_has_to_wait_and_a_link_logs_in_meanwhile(scene):
    client = browser(scene)

    def status(secret):
        return client.post("/console/login", data={"key": KEY.id, "secret": secret}, headers=ORIGIN).status_code

    assert [status(f"wrong {number}") for number in range(MOST_WRONG_LOGINS)] == [401] * MOST_WRONG_LOGINS
    scene.clock.now += WRONG_LOGINS_SECS / 2
    refused = client.post("/console/login", data={"key": KEY.id, "secret": KEY.secret}, headers=ORIGIN)
    assert (refused.status_code, "wait 30 seconds, or use a link." in refused.text) == (429, True)
    assert entered(scene).get("/console/").status_code == 200
    scene.clock.now += WRONG_LOGINS_SECS / 2
    assert status(KEY.secret) == 303


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {**ORIGIN, "Sec-Fetch-Site": "cross-site"}])
def test_a_login_from_another_page_is_refused(scene, headers):
    fields = {"key": KEY.id, "secret": KEY.secret}
    assert browser(scene).post("/console/login", data=fields, headers=headers).status_code == 403


def test_a_cookie_is_secure_behind_https(scene):
    assert "Secure" in browser(scene, "https://localhost").get(scene.link()).headers["set-cookie"]


def test_a_session_ends(scene):
    client = entered(scene)
    scene.clock.now += SESSION_SECS
    assert client.get("/console/").status_code == 303
    client = entered(scene)
    held = dict(client.cookies)
    assert press(client, "logout").headers["location"] == "/console/login"
    assert client.get("/console/").status_code == 303
    stolen = browser(scene)
    stolen.cookies.update(held)
    assert stolen.get("/console/").status_code == 303


@pytest.mark.parametrize("action", [*ACTIONS, "logout"])
def test_forged_actions_are_refused(scene, action):
    client = entered(scene)
    csrf = csrf_of(client)
    assert press(client, action, {"Origin": "http://evil.example"}, csrf).status_code == 403
    assert press(client, action, {}, csrf).status_code == 403
    assert press(client, action, {**ORIGIN, "Sec-Fetch-Site": "same-site"}, csrf).status_code == 403
    assert press(client, action, csrf="").status_code == 403
    assert press(client, action, csrf=csrf_of(entered(scene))).status_code == 403
    assert press(browser(scene), action, csrf=csrf).status_code == 401
    assert client.get(url(action)).status_code == 405


def test_another_name_for_this_machine_is_refused(scene):
    rebound = browser(scene, "http://rebound.example")
    for path in ("/console/", "/console/login", scene.link()):
        assert rebound.get(path).status_code == 421
    fields = {"key": KEY.id, "secret": KEY.secret}
    assert rebound.post("/console/login", data=fields, headers={"Origin": "http://rebound.example"}).status_code == 421


def test_a_service_on_a_network_answers_to_its_names(scene):
    open_scene = Scene(scene.world, loopback=False)
    assert browser(open_scene, "http://etl.example:4590").get("/console/login").status_code == 200


def test_a_form_has_a_limit(scene):
    assert press(entered(scene), "start-trigger", name="x" * 70_000).status_code == 413


def test_a_job_is_run_with_arguments_and_its_run_is_stopped(scene):
    scene.world.job(EVIL)
    client = entered(scene)
    answer = press(client, "start-job-run", job=EVIL, arguments="--day 2026-05-04\n--api-key abc")
    page = client.get(answer.headers["location"])
    (run,) = scene.world.runs(EVIL)
    assert run["Arguments"] == {"--day": "2026-05-04", "--api-key": "abc"}
    assert "was started." in page.text
    assert "--api-key *** this run" in words(page)
    assert "was started." not in client.get(answer.headers["location"]).text
    scene.world.steps()
    press(client, "stop-job-run", job=EVIL, id=run["Id"])
    scene.world.steps()
    assert scene.world.states(EVIL) == ["STOPPED"]
    again = client.get(press(client, "stop-job-run", job=EVIL, id=run["Id"]).headers["location"])
    assert "has ended with STOPPED and cannot be stopped." in again.text


def test_what_the_api_refuses_the_console_refuses_with_its_reason(scene):
    scene.world.job("daily")
    client = entered(scene)
    back = url("job", name="daily")
    press(client, "start-job-run", job="daily")
    answer = press(client, "start-job-run", job="daily", back=back)
    assert answer.headers["location"] == back
    # A page that renews itself, perhaps in another tab, leaves the notice to the page that the reader goes to.
    client.get(back, headers={"HX-Request": "true"})
    assert "Concurrent runs exceeded for daily" in client.get(back).text
    answer = press(client, "start-job-run", job="", back="https://evil.example")
    assert answer.headers["location"] == "/console/"
    assert "jobName" in client.get("/console/").text


def test_a_bookmark_is_shown_and_reset(scene, tmp_path):
    ledger_url = f"sqlite:///{tmp_path / 'ledger.db'}"
    scene.world.service.environ["GLUEPOT_LEDGER"] = ledger_url
    scene.world.job("daily")
    client = entered(scene)
    address = url("bookmark", job="daily")
    assert "The job has no bookmark yet." in words(client.get(address))
    ledger = open_ledger(ledger_url, scene.clock)
    run = ledger.begin(RunStart("daily", "jr_1", "enable"), Owner("here", 1), None)
    ledger.commit(run, {"orders": Change('{"file": "a.json"}')})
    ledger.close()
    assert 'Version 2 Run 2 Attempt 0 Last run jr_1 { "orders": [ { "file": "a.json" } ] }' in words(
        client.get(address)
    )
    shown = words(client.get(press(client, "reset-job-bookmark", job="daily", back=address).headers["location"]))
    assert "The bookmark was reset." in shown
    assert "a.json" not in shown


def test_a_bookmark_is_rewound_to_a_run(scene, tmp_path):
    ledger_url = f"sqlite:///{tmp_path / 'ledger.db'}"
    scene.world.service.environ["GLUEPOT_LEDGER"] = ledger_url
    scene.world.job("daily", DefaultArguments={"--job-bookmark-option": "job-bookmark-enable"})
    ledger = open_ledger(ledger_url, scene.clock)
    run_ids = []
    for file in ("a", "b"):
        run_ids.append(scene.world.call("StartJobRun", JobName="daily")["JobRunId"])
        scene.world.steps()
        run = ledger.begin(RunStart("daily", run_ids[-1], "enable"), Owner("here", 1), None)
        ledger.commit(run, {"orders": Change(f'{{"file": "{file}.json"}}')})
        scene.world.end("daily")
    ledger.close()
    client = entered(scene)
    page = url("run", job="daily", id=run_ids[0])
    assert "Rewind bookmark to this run" in words(client.get(page))
    answer = press(client, "rewind-job-bookmark", job="daily", id=run_ids[0], back=page)
    shown = words(client.get(answer.headers["location"]))
    assert "The next run reads what came after the run" in shown
    assert '"file": "a.json"' in shown


def test_a_run_and_its_job_show_the_metrics_that_the_run_has_reported(scene):
    scene.world.job("daily")
    run_id = scene.world.call("StartJobRun", JobName="daily")["JobRunId"]
    scene.world.steps()
    dimensions = {"JobName": "daily", "JobRunId": run_id, "Type": "count"}
    for minute in (0, 60):
        data = {
            "MetricName": "glue.driver.aggregate.recordsRead",
            "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
            "Value": 1200,
            "Timestamp": scene.clock.now + minute,
        }
        scene.world.call("PutMetricData", of="GraniteServiceVersion20100801", Namespace="Glue", MetricData=[data])
    client = entered(scene)
    assert "Metrics Records read 2,400" in words(client.get(url("run", job="daily", id=run_id)))
    shown = words(client.get(url("job", name="daily")))
    assert "Metrics of the last runs" in shown
    assert "2,400 \u2013 \u2013" in shown


def test_triggers_are_started_stopped_and_fired(scene):
    scene.define_workflow()
    scene.world.call("CreateTrigger", Name="by hand", Type="ON_DEMAND", Actions=[{"JobName": "check"}])
    client = entered(scene)
    for action, state in (("stop-trigger", "DEACTIVATED"), ("start-trigger", "ACTIVATED")):
        press(client, action, name="nightly-start")
        assert scene.world.call("GetTrigger", Name="nightly-start")["Trigger"]["State"] == state
    assert "2026-03-03 02:30:00" in client.get(url("trigger", name="nightly-start")).text
    press(client, "start-trigger", name="by hand")
    assert len(scene.world.runs("check")) == 1


def test_a_workflow_shows_triggers_that_were_never_started(scene):
    scene.define_workflow()
    assert "never started" not in entered(scene).get(url("workflow", name=WORKFLOW)).text
    condition = {"LogicalOperator": "EQUALS", "JobName": "check", "State": "SUCCEEDED"}
    scene.world.call(
        "CreateTrigger",
        Name="later",
        Type="CONDITIONAL",
        WorkflowName=WORKFLOW,
        Predicate={"Conditions": [condition]},
        Actions=[{"JobName": "publish"}],
    )
    assert "The conditional trigger later was never started" in entered(scene).get(url("workflow", name=WORKFLOW)).text


def test_a_workflow_is_run_and_stopped(scene):
    scene.define_workflow()
    client = entered(scene)
    address = press(client, "start-workflow-run", name=WORKFLOW).headers["location"]
    scene.world.steps()
    page = client.get(address)
    assert "extract Job · Running" in page.text
    run_id = re.search("wr_[0-9a-f]{64}", page.text)[0]
    press(client, "stop-workflow-run", name=WORKFLOW, id=run_id)
    scene.world.steps()
    assert scene.world.call("GetWorkflowRun", Name=WORKFLOW, RunId=run_id)["Run"]["Status"] == "STOPPED"


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        (url("job", name="no such"), 404, "Job no such not found."),
        (url("run", job="a", id="../../etc"), 404, "Job run ../../etc not found."),
        (url("whole-log", job="a", id="b", stream="../x"), 404, "There is no stream '../x'"),
        (url("table", database="no", name="t"), 404, "no not found"),
        (url("jobs", page="x"), 400, "NextToken is 'x'"),
        (url("runs", page="OTk5OTk5OTk5OTk5OTk5OTk5OTk5OQ=="), 400, "use a token from an earlier response"),
        (url("no-such-page"), 404, "The console has no such page."),
    ],
)
def test_what_is_not_there_is_told_in_a_page(scene, address, status, said):
    client = entered(scene)
    answer = client.get(address)
    assert answer.status_code == status
    assert said in words(answer)
    assert "Overview" in answer.text


def test_a_page_that_fails_says_nothing_of_its_insides(scene, monkeypatch):
    client = TestClient(scene.app, base_url=OURS, raise_server_exceptions=False)
    client.get(scene.link())
    monkeypatch.setattr(Reader, "call", lambda *_, **__: {}[CANARY])
    answer = client.get(url("workflows"))
    assert (answer.status_code, CANARY in answer.text) == (500, False)
    assert "the service's log has the cause" in words(answer)


def test_an_empty_service_has_pages_too(scene):
    client = entered(scene)
    said = {"": "No job runs.", "jobs": "There is no job yet.", "databases": "has no database yet."}
    for page in ("", "jobs", "runs", "triggers", "workflows", "databases", "connections"):
        answer = client.get(url(page))
        assert answer.status_code == 200
        assert said.get(page, "") in words(answer)


def test_static_files_are_there_without_a_login_and_the_api_stays(scene):
    client = browser(scene)
    for name in ("console.css", "console.js", "base.css", "frame.js", "htmx-2.0.11.min.js"):
        assert client.get(f"/console/static/{name}").status_code == 200
    assert client.get("/console/static/htmx-LICENSE.txt").status_code == 404
    assert client.get("/console/static/..%2fapp.py").status_code == 404
    assert client.post("/", json={}).json()["__type"] == "MissingAuthenticationTokenException"


def test_a_run_with_an_event_log_links_to_the_history_server_that_runs(world, monkeypatch):
    world.job("shown", DefaultArguments={"--enable-spark-ui": "true"})
    run_id = world.call("StartJobRun", JobName="shown")["JobRunId"]
    environ = {"GLUEPOT_HOME": str(world.script.parent)}
    world.service.environ.update(environ)
    reader, query = Reader(world.service, operations_of(world.service)), {"job": "shown", "id": run_id}
    assert PAGES["run"](reader, query).values["spark_ui"] == ""
    folder = server_folder(environ, "history")
    folder.mkdir(parents=True)
    write_state(folder, ServerState("history", identify(os.getpid()), 20001, "/log"))
    assert PAGES["run"](reader, query).values["spark_ui"] == "http://127.0.0.1:20001"
