"""The page in a real browser, over the real server; the batches are made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from gluepot.ops.pages import application
from gluepot.ops.server import Server, serve
from tests.e2e.browser import Visit, opened
from tests.e2e.jobs import wait_until
from tests.ops_scene import COMPLETE, EVIL, UNMET, Scene, advice, column

TOKEN = "0123456789abcdef"
DARK_GROUND, LIGHT_GROUND = "rgb(13, 16, 20)", "rgb(245, 246, 248)"
OPEN_SECS = 15.0

expect.set_options(timeout=OPEN_SECS * 1_000)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.fixture
def scene(tmp_path) -> Scene:
    scene = Scene(tmp_path)
    scene.begin()
    for batch_id in range(5):
        scene.batch(batch_id)
    scene.batch(5, column_changes=[column("price", "double", "int64")])
    scene.rejects(6, EVIL, b"\x00\xff")
    scene.advice["clicks"] = advice(scene.clock.epoch())
    scene.check(COMPLETE, UNMET)
    return scene


@pytest.fixture
def server(scene) -> Iterator[Server]:
    server = serve(application(scene.job))
    yield server
    server.stop()


@pytest.fixture
def visit(chrome, server) -> Iterator[Callable[..., Visit]]:
    """Open the page; at the end nothing may have gone wrong on any."""
    visits: list[Visit] = []

    def open_page(url: str = server.page_url, **context) -> Visit:
        visits.append(Visit.of(chrome.new_context(**context), url))
        return visits[-1]

    yield open_page
    for one in visits:
        one.page.context.close()
    assert [one.complaints for one in visits] == [[]] * len(visits)


def colour(visit: Visit) -> str:
    return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_a_new_batch_shows_without_anybody_doing_anything(visit, scene):
    page = visit().page
    chart = page.get_by_role("img", name="Newest of 7 batches: input 2,000")
    expect(chart).to_be_visible()
    scene.batch(7, lag_records={"clicks-0": 77})
    expect(page.locator("#now")).to_contain_text("Batch 7 took 2 s, 40 % of its 5 s window, and 77 records wait.")
    expect(page.get_by_role("img", name="Newest of 8 batches: lag 77 records")).to_be_visible()
    assert page.locator(".plot canvas").count() == 3


def test_rates_that_are_far_apart_share_an_axis_that_grows_by_factors(visit, scene):
    page = visit().page
    rates = page.locator("#plot-rates")
    expect(rates).to_have_attribute("data-scale", "even")
    scene.batch(7, duration_secs=0.02)
    expect(rates).to_have_attribute("data-scale", "factors")
    assert page.locator(".plot canvas").count() == 3


def test_news_is_kept_from_the_page_while_it_is_not_live(visit, scene):
    page = visit().page
    page.get_by_role("button", name="Live").click()
    scene.batch(7)
    page.wait_for_timeout(3_000)
    expect(page.locator("#now")).to_contain_text("Batch 6 took")
    page.get_by_role("button", name="Live").click()
    expect(page.locator("#now")).to_contain_text("Batch 7 took")


def test_a_query_is_paused_and_resumed_from_the_keyboard(visit, scene):
    page = visit().page
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".word")).to_have_text("Pausing")
    assert scene.streams.pauses.hold("clicks")
    scene.streams.status.tell("clicks", paused=True)
    expect(page.locator(".word")).to_have_text("Paused")
    expect(page.get_by_role("status")).to_contain_text("Paused. No batch begins")
    expect(page.get_by_role("button", name="Resume")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".word")).to_have_text("On time")
    assert not scene.streams.pauses.hold("clicks")


def test_the_job_is_stopped_after_a_question(visit, scene):
    page = visit().page
    page.once("dialog", lambda asked: asked.dismiss())
    page.get_by_role("button", name="Stop job").click()
    assert not scene.streams.stop.is_set()
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Stop job").click()
    expect(page.locator(".word")).to_have_text("Stopping")
    expect(page.get_by_role("button", name="Stopping")).to_be_disabled()
    assert scene.streams.stop.is_set()


def test_rejected_records_show_their_bytes_and_run_nothing(visit):
    page = visit().page
    records = page.locator("#rejects .records")
    expect(records).to_contain_text(r'"<script>alert(1)</script>\x1b[2J')
    expect(records).to_contain_text(r"\x00\xff")
    assert page.locator("#rejects script").count() == 0


def test_a_new_check_takes_the_place_of_the_one_before(visit, scene):
    page = visit().page
    rules = page.get_by_role("region", name="Rules of before the write")
    expect(rules.get_by_role("row", name='ColumnValues "amount" > 0 Failed')).to_be_visible()
    scene.check(COMPLETE)
    expect(rules.get_by_role("row", name='IsComplete "id" Passed')).to_be_visible()
    expect(rules.get_by_role("row")).to_have_count(2)
    expect(page.locator("#quality h4")).to_contain_text("1 of 1 rules passed, 9,998 rows")


def test_a_batch_is_chosen_by_its_number_and_stays_chosen(visit, scene):
    page = visit().page
    page.get_by_role("link", name="3", exact=True).click()
    expect(page.get_by_role("heading", name="Batch 3, phase by phase")).to_be_visible()
    scene.batch(7)
    expect(page.locator("#now")).to_contain_text("Batch 7 took")
    expect(page.get_by_role("heading", name="Batch 3, phase by phase")).to_be_visible()


def test_the_theme_is_the_systems_until_somebody_chooses(visit):
    dark, light = visit(color_scheme="dark"), visit(color_scheme="light")
    assert (colour(dark), colour(light)) == (DARK_GROUND, LIGHT_GROUND)
    switch = light.page.get_by_role("button", name="Dark")
    switch.click()
    assert colour(light) == DARK_GROUND
    light.page.reload()
    assert colour(light) == DARK_GROUND
    expect(switch).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("width", [375, 768, 1280])
def test_nothing_is_wider_than_the_screen(visit, width):
    one = visit(viewport={"width": width, "height": 800})
    expect(one.page.locator(".plot canvas").first).to_be_visible()
    assert not one.scrolls_sideways()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_finding(visit, scene, scheme):
    scene.begin("orders")
    scene.streams.status.tell("orders", failures_in_a_row=2)
    one = visit(color_scheme=scheme)
    expect(one.page.locator("#tabs")).to_be_visible()
    assert one.severe_findings() == []
    one.page.get_by_role("link", name="clicks").click()
    expect(one.page.locator("#rejects .records")).to_be_visible()
    assert one.severe_findings() == []


def test_a_job_without_a_batch_has_a_page_too(chrome, tmp_path):
    server = serve(application(Scene(tmp_path).job))
    try:
        one = Visit.of(chrome.new_context(), server.page_url)
        expect(one.page.locator(".why")).to_have_text("The script has started no streaming query yet.")
        assert (one.severe_findings(), one.complaints) == ([], [])
    finally:
        server.stop()


def test_with_a_token_the_page_opens_to_who_gives_it(chrome, scene):
    server = serve(application(scene.job, TOKEN))
    try:
        one = Visit.of(chrome.new_context(), server.page_url)
        assert one.severe_findings() == []
        one.page.get_by_label("Token of the job").fill(TOKEN)
        one.page.keyboard.press("Enter")
        expect(one.page.locator(".word")).to_have_text("On time")
        one.page.get_by_role("button", name="Pause").click()
        wait_until(lambda: scene.streams.pauses.hold("clicks"), "the pause")
        assert one.complaints == []
    finally:
        server.stop()


def test_the_page_says_so_when_its_job_is_gone(chrome, scene):
    server = serve(application(scene.job))
    page = Visit.of(chrome.new_context(), server.page_url).page
    expect(page.locator(".word")).to_have_text("On time")
    server.stop()
    expect(page.get_by_role("alert")).to_contain_text("the job has ended, or cannot be reached")
