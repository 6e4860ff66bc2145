from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter

from gluepot.core.clock import FakeClock
from gluepot.ops.exposition import MAX_AGE_SECS
from gluepot.ops.pages import Job, application
from gluepot.streaming.observe.status import JobStatus
from tests.ops_scene import Scene

TOKEN = "0123456789abcdef"


class Client:
    """Asks the application in this process, without a socket."""

    def __init__(self, app) -> None:
        self._transport = httpx.ASGITransport(app)

    def get(self, page: str, headers: dict[str, str] | None = None) -> httpx.Response:
        return asyncio.run(self._ask("GET", page, headers))

    def post(self, page: str) -> httpx.Response:
        return asyncio.run(self._ask("POST", page, None))

    async def _ask(self, method: str, page: str, headers: dict[str, str] | None) -> httpx.Response:
        async with httpx.AsyncClient(transport=self._transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, page, headers=headers)


class World:
    """A job, and what a test changes of it."""

    def __init__(self) -> None:
        self.clock = FakeClock(1_000.0)
        self.status = JobStatus()
        self.status.tell("clicks", lease="held", source_reached=True)
        self.stopping = False
        registry = CollectorRegistry()
        self.rows = Counter("gluepot_rows_in", "Records.", registry=registry)
        self.job = Job(
            registry=registry,
            queries=self.status.queries,
            stopping=lambda: self.stopping,
            version={"gluepot": "1.2.3"},
            config={"run": {"master": "local[2]"}},
            clock=self.clock,
            page=Scene(Path(), self.clock).page,
        )

    def client(self, token: str | None = None) -> Client:
        return Client(application(self.job, token))


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("", "text/plain"), ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text")],
)
def test_metrics_come_in_the_format_that_is_asked_for(world, accept, kind):
    world.rows.inc(3)
    answer = world.client().get("/metrics", headers={"Accept": accept})
    assert answer.headers["Content-Type"].startswith(kind)
    assert "gluepot_rows_in_total 3.0" in answer.text


def test_metrics_are_worked_out_at_most_twice_a_second(world):
    client = world.client()
    client.get("/metrics")
    world.rows.inc()
    assert "gluepot_rows_in_total 0.0" in client.get("/metrics").text
    world.clock.sleep(MAX_AGE_SECS)
    assert "gluepot_rows_in_total 1.0" in client.get("/metrics").text


def test_health_answers_in_a_word(world):
    client = world.client()
    assert [(client.get(page).status_code, client.get(page).text) for page in ("/livez", "/readyz", "/healthz")] == [
        (200, "ok\n")
    ] * 3


def test_a_job_told_to_end_lives_and_is_not_ready(world):
    world.stopping = True
    client = world.client()
    assert [client.get(page).status_code for page in ("/livez", "/readyz", "/healthz")] == [200, 503, 503]


def test_verbose_health_names_each_check(world):
    world.status.tell("clicks", lease="lost")
    text = world.client().get("/healthz?verbose").text
    assert "[+] source of clicks: It was reached.\n" in text
    assert "[-] lease of clicks: The lease is lost.\n" in text
    assert text.endswith("failed\n")


def test_version_and_configuration_are_json(world):
    client = world.client()
    assert client.get("/version").json() == {"gluepot": "1.2.3"}
    assert client.get("/config").json() == {"run": {"master": "local[2]"}}


@pytest.mark.parametrize("page", ["/metrics", "/version", "/config", "/healthz?verbose", "/livez?verbose", "/nowhere"])
@pytest.mark.parametrize("given", ["", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"])
def test_with_a_token_pages_are_closed_to_those_without_it(world, page, given):
    answer = world.client(TOKEN).get(page, headers={"Authorization": given} if given else {})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("page", ["/metrics", "/version", "/config", "/healthz?verbose"])
def test_with_a_token_pages_open_to_those_who_bring_it(world, page):
    assert world.client(TOKEN).get(page, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize("probe", ["/livez", "/readyz", "/healthz"])
def test_probes_need_no_token(world, probe):
    assert world.client(TOKEN).get(probe).status_code == 200


def test_pages_are_read_only(world):
    assert world.client().post("/metrics").status_code == 405
