"""The console in a real browser, over a real server; runs have no processes, and time stands still."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from gluepot.ops.server import Server, serve
from gluepot.service.console.values import url
from tests.console_scene import EVIL, KEY, WORKFLOW, Scene
from tests.e2e.browser import Visit, opened

OPEN_SECS = 15.0
DARK = {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}}
NARROW = {"color_scheme": "light", "viewport": {"width": 375, "height": 812}}

expect.set_options(timeout=OPEN_SECS * 1_000)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Scene:
    return Scene.at(tmp_path_factory.mktemp("console")).fill()


@pytest.fixture(scope="module")
def server(scene) -> Iterator[Server]:
    server = serve(scene.app)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def visit(chrome, server, scene) -> Iterator[Visit]:
    """A browser that has logged in; at the end nothing may have gone wrong on any page."""
    visit = Visit.of(chrome.new_context(), at(server, scene.link()))
    yield visit
    visit.page.context.close()
    assert visit.complaints == []


def at(server: Server, path: str) -> str:
    return server.page_url.rstrip("/") + path


def pages(scene: Scene) -> list[str]:
    run_id = scene.world.runs("orders_daily")[-1]["Id"]
    of_workflow = scene.world.call("GetWorkflowRuns", Name=WORKFLOW)["Runs"][-1]["WorkflowRunId"]
    return [
        "/console/",
        url("jobs"),
        url("job", name=EVIL),
        url("job", name="orders_daily"),
        url("runs", state="failed"),
        url("run", job="orders_daily", id=run_id),
        url("whole-log", job="orders_daily", id=run_id, stream="error"),
        url("triggers"),
        url("trigger", name="loaded"),
        url("workflows"),
        url("workflow", name=WORKFLOW),
        url("workflow-run", name=WORKFLOW, id=of_workflow),
        url("crawlers"),
        url("crawler", name="lake"),
        url("crawl", crawler="lake", id=scene.crawl_ids()[-1]),
        url("quality"),
        url("quality-result", id=scene.result_ids()[0]),
        url("databases"),
        url("database", name="sales"),
        url("table", database="sales", name="orders"),
        url("rows", database="sales", name="customers"),
        url("connections"),
        url("connection", name="orders-db"),
    ]


@pytest.mark.parametrize(("look", "first", "step"), [(DARK, 0, 4), (NARROW, 5, 6)])
def test_axe_has_no_serious_finding_and_nothing_is_wider_than_the_screen(chrome, server, scene, look, first, step):
    one = Visit.of(chrome.new_context(**look), at(server, "/console/login"))
    findings = {"login": one.severe_findings()}
    one.page.goto(at(server, scene.link()))
    for number, path in enumerate(pages(scene)):
        # Axe takes a second for a page, and pages are made of the same parts.
        examined = number % step == first
        if examined or look is NARROW:
            one.page.goto(at(server, path))
            assert not one.scrolls_sideways(), path
        if examined:
            findings[path] = one.severe_findings()
    one.page.context.close()
    assert {path: found for path, found in findings.items() if found} == {}
    assert one.complaints == []


def test_a_key_logs_in_from_the_keyboard_and_the_wanted_page_opens(chrome, server):
    one = Visit.of(chrome.new_context(), at(server, url("job", name=EVIL)))
    expect(one.page.get_by_label("Access key")).to_be_focused()
    one.page.keyboard.type(KEY.id)
    one.page.keyboard.press("Tab")
    one.page.keyboard.type(KEY.secret)
    one.page.keyboard.press("Enter")
    expect(one.page.get_by_role("heading", name=EVIL, exact=True)).to_be_visible()
    one.page.get_by_role("button", name="Log out").click()
    expect(one.page.get_by_label("Secret key")).to_be_visible()
    one.page.context.close()
    assert one.complaints == []


def test_a_job_is_run_followed_and_stopped(visit, server, scene):
    page: Page = visit.page
    page.goto(at(server, url("job", name="orders_daily")))
    page.get_by_text("Run with arguments").click()
    page.get_by_label("Arguments of this run").fill("--day 2026-05-04")
    page.get_by_role("button", name="Run with these arguments").click()
    expect(page.get_by_role("status")).to_contain_text("was started.")
    expect(page.get_by_role("row", name="--day 2026-05-04 this run")).to_be_visible()
    expect(page.locator(".word")).to_have_text("Starting")
    scene.world.steps()
    expect(page.locator(".word")).to_have_text("Running")
    run_id = scene.world.runs("orders_daily")[-1]["Id"]
    lines = page.locator("#log-error")
    scene.log(run_id, *(f"line {number}" for number in range(200)), "<img src=x onerror=alert(1)>")
    expect(lines).to_contain_text("<img src=x onerror=alert(1)>")
    assert lines.evaluate("one => one.scrollHeight - one.scrollTop - one.clientHeight") < 2
    lines.evaluate("one => one.scrollTo(0, 0)")
    scene.log(run_id, "the last line")
    expect(lines).to_contain_text("the last line")
    assert lines.evaluate("one => one.scrollTop") == 0
    page.once("dialog", lambda asked: asked.dismiss())
    page.get_by_role("button", name="Stop run").click()
    expect(page.locator(".word")).to_have_text("Running")
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Stop run").click()
    expect(page.locator(".word")).to_have_text("Stopping")
    scene.world.steps()
    expect(page.locator(".word")).to_have_text("Stopped")
    expect(page.locator("[data-polls]")).to_have_count(0)


def test_the_graph_colours_itself_and_its_nodes_lead_to_their_runs(visit, server, scene):
    page: Page = visit.page
    newest = scene.world.call("GetWorkflowRuns", Name=WORKFLOW)["Runs"][0]["WorkflowRunId"]
    page.goto(at(server, url("workflow-run", name=WORKFLOW, id=newest)))
    running = page.get_by_role("link", name="load_customers Job · Running")
    expect(running).to_be_visible()
    before = running.locator("rect").evaluate("one => getComputedStyle(one).stroke")
    scene.world.end("load_customers")
    done = page.get_by_role("link", name="load_customers Job · Succeeded")
    expect(done).to_be_visible()
    assert done.locator("rect").evaluate("one => getComputedStyle(one).stroke") != before
    expect(page.get_by_role("link", name="check Job · Running")).to_be_visible()
    done.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Run of load_customers")).to_be_visible()


def test_a_trigger_is_stopped_from_the_list(visit, server, scene):
    page: Page = visit.page
    page.goto(at(server, "/console/"))
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Triggers").click()
    page.get_by_role("row", name=re.compile("^hourly")).get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status")).to_have_text("The trigger hourly no longer fires by itself.")
    expect(page.get_by_text("Deactivated")).to_be_visible()
    assert scene.world.call("GetTrigger", Name="hourly")["Trigger"]["State"] == "DEACTIVATED"


def test_the_page_says_so_when_its_service_is_gone(chrome, scene):
    server = serve(scene.app)
    one = Visit.of(chrome.new_context(), at(server, scene.link()))
    expect(one.page.get_by_role("heading", name="Running now")).to_be_visible()
    server.stop()
    expect(one.page.get_by_role("alert")).to_contain_text("the service has ended, or cannot be reached.")
    one.page.context.close()
