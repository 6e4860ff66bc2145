"""The HTTP paths of the console: login and logout, pages, and the actions of their buttons.

Only a browser that has logged in sees a page. The cookie of its session is sent by pages of the same site alone, and an
action needs, besides, a secret that only our forms have. While the service listens on loopback, it answers only to
names of this machine: under a name that somebody else points here, another page would have the same origin.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.core.sockets import is_loopback
from gluepot.service.console.page import Page, Reader
from gluepot.service.console.pages import MENU, PAGES
from gluepot.service.console.sessions import SESSION_SECS, Links, Notice, Session, Sessions, WrongLogins
from gluepot.service.console.values import ROOT, distance, given_arguments, moment, short_id, url
from gluepot.service.context import Service
from gluepot.service.errors import MISSING, ServiceError
from gluepot.service.keys import KeyPair
from gluepot.service.wire.app import Answer
from gluepot.web.render import HEADERS, static_answer, templates
from gluepot.web.requests import Refused, check_same_origin, form_fields, host_name, refused

LOGIN, LOGOUT = ROOT + "login", ROOT + "logout"
_PACKAGE = "gluepot.service.console"
_MOST_FORM_BYTES = 64_000
_CSRF = "csrf"
_STATUS = {MISSING: 404, "AccessDeniedException": 403}

log = get_logger(__name__)

Fields = Mapping[str, str]


class _LoginNeeded(Exception):
    """The browser has not logged in, or its session is over."""


@dataclass(frozen=True, slots=True)
class Done:
    """What an action has done.

    Args:
        notice: for people.
        next: the address of the page that the browser goes to.
        mood: `good`, or `bad` if nothing was done.
    """

    notice: str
    next: str
    mood: str = "good"


def start_job_run(reader: Reader, fields: Fields) -> Done:
    """Ask for a run of a job."""
    name = fields.get("job", "")
    arguments = given_arguments(fields.get("arguments", "")) or None
    run_id = reader.call("StartJobRun", JobName=name, Arguments=arguments)["JobRunId"]
    return Done(f"The run {short_id(run_id)} was started.", url("run", job=name, id=run_id))


def stop_job_run(reader: Reader, fields: Fields) -> Done:
    """Ask a run to stop."""
    name, run_id = fields.get("job", ""), fields.get("id", "")
    back = url("run", job=name, id=run_id)
    for error in reader.call("BatchStopJobRun", JobName=name, JobRunIds=[run_id])["Errors"]:
        return Done(error["ErrorDetail"]["ErrorMessage"], back, "bad")
    return Done("The run was asked to stop. A stream finishes its running batch first.", back)


def start_workflow_run(reader: Reader, fields: Fields) -> Done:
    """Start a run of a workflow."""
    name = fields.get("name", "")
    run_id = reader.call("StartWorkflowRun", Name=name)["RunId"]
    return Done(f"The run {short_id(run_id)} was started.", url("workflow-run", name=name, id=run_id))


def stop_workflow_run(reader: Reader, fields: Fields) -> Done:
    """Stop the jobs of a run of a workflow."""
    name, run_id = fields.get("name", ""), fields.get("id", "")
    reader.call("StopWorkflowRun", Name=name, RunId=run_id)
    return Done("The jobs of the run were asked to stop.", url("workflow-run", name=name, id=run_id))


def reset_job_bookmark(reader: Reader, fields: Fields) -> Done:
    """Let the next run of a job read everything again."""
    name = fields.get("job", "")
    reader.call("ResetJobBookmark", JobName=name)
    return Done("The bookmark was reset. The next run reads everything again.", url("bookmark", job=name))


def rewind_job_bookmark(reader: Reader, fields: Fields) -> Done:
    """Let the next run of a job read again what came after a run."""
    name, run_id = fields.get("job", ""), fields.get("id", "")
    reader.call("ResetJobBookmark", JobName=name, RunId=run_id)
    notice = f"The bookmark was rewound. The next run reads what came after the run {short_id(run_id)}."
    return Done(notice, url("bookmark", job=name))


def _with_name(operation: str, told: str, page: str, member: str = "Name") -> Callable[[Reader, Fields], Done]:
    """Return an action that calls an operation with the name in the form.

    Args:
        operation: of the API.
        told: what the next page says; `{}` stands for the name.
        page: the page of what is named, to which the browser goes.
        member: of the request, which gets the name.
    """

    def act(reader: Reader, fields: Fields) -> Done:
        name = fields.get("name", "")
        reader.call(operation, **{member: name})
        return Done(told.format(name), url(page, name=name))

    return act


ACTIONS: Mapping[str, Callable[[Reader, Fields], Done]] = {
    "start-job-run": start_job_run,
    "stop-job-run": stop_job_run,
    "reset-job-bookmark": reset_job_bookmark,
    "rewind-job-bookmark": rewind_job_bookmark,
    "start-trigger": _with_name("StartTrigger", "The trigger {} was started.", "trigger"),
    "stop-trigger": _with_name("StopTrigger", "The trigger {} no longer fires by itself.", "trigger"),
    "start-workflow-run": start_workflow_run,
    "stop-workflow-run": stop_workflow_run,
    "start-crawler": _with_name("StartCrawler", "The crawler {} was started.", "crawler"),
    "stop-crawler": _with_name(
        "StopCrawler", "The crawl was asked to stop. What it has found is not written.", "crawler"
    ),
    "start-crawler-schedule": _with_name(
        "StartCrawlerSchedule", "The schedule of {} starts crawls again.", "crawler", "CrawlerName"
    ),
    "stop-crawler-schedule": _with_name(
        "StopCrawlerSchedule", "The schedule of {} starts no more crawls.", "crawler", "CrawlerName"
    ),
}
"""The actions by their paths below `/console/`."""


def with_console(
    api: ASGIApp,
    service: Service,
    operations: Mapping[str, Answer],
    secret_of: Callable[[str], str | None],
    key: KeyPair,
    *,
    loopback: bool,
) -> Starlette:
    """Return the API's application with the console beside it.

    Args:
        api: what answers all other paths.
        service: the service.
        operations: what answers each operation, by its target, such as `AWSGlue.GetJob`.
        secret_of: returns the secret of an access key; None if there is no such key.
        key: the service's own key pair, which signs links.
        loopback: whether only this machine can reach the service.
    """
    console = _Console(service, operations, secret_of, key, loopback=loopback)

    async def home(_: Request) -> Response:
        return RedirectResponse(ROOT, 303, headers=HEADERS)

    routes = [Route("/", home), Route(ROOT.rstrip("/"), home), Mount(ROOT, console.application()), Mount("/", api)]
    return Starlette(routes=routes)


class _Console:
    """Answers requests of browsers; arguments as in `with_console`."""

    def __init__(
        self,
        service: Service,
        operations: Mapping[str, Answer],
        secret_of: Callable[[str], str | None],
        key: KeyPair,
        *,
        loopback: bool,
    ) -> None:
        self._reader = Reader(service, operations)
        self._secret_of = secret_of
        self._loopback = loopback
        self._sessions = Sessions(service.clock)
        self._wrong_logins = WrongLogins(service.clock)
        self._links = Links(key.secret, service.clock)
        # Browsers share cookies between all ports of a host, so each service has a name of its own.
        self._cookie = f"gluepot_console_{sha256(key.id.encode()).hexdigest()[:12]}"
        self._templates = templates(_PACKAGE, ROOT + "static/")
        self._templates.filters.update(moment=moment)
        self._region = service.region

    def application(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/login", self._show_login),
                Route("/login", self._login, methods=["POST"]),
                Route("/logout", self._logout, methods=["POST"]),
                Route("/static/{name}", self._static),
                *(Route(f"/{path}", self._page(make)) for path, make in PAGES.items()),
                *(Route(f"/{path}", self._action(act), methods=["POST"]) for path, act in ACTIONS.items()),
            ],
            exception_handlers={
                404: self._nowhere,
                Refused: refused,
                ServiceError: self._refused_operation,
                EtlError: self._failed,
                Exception: self._broken,
                _LoginNeeded: self._to_login,
            },
        )

    async def _static(self, request: Request) -> Response:
        return static_answer(_PACKAGE, request.path_params["name"])

    def _page(self, make: Callable[[Reader, Fields], Page]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            session = self._session(request)
            page = await run_in_threadpool(make, self._reader, request.query_params)
            return self._rendered(request, session, page)

        return endpoint

    def _action(self, act: Callable[[Reader, Fields], Done]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            session, fields = await self._form(request)
            try:
                done = await run_in_threadpool(act, self._reader, fields)
            except ServiceError as error:
                done = Done(error.message, _page_address(fields.get("back", "")), "bad")
            else:
                log.info("console_action", action=request.url.path.removeprefix(ROOT), user=session.key_id)
            session.notice = Notice(done.mood, done.notice)
            return RedirectResponse(done.next, 303, headers=HEADERS)

        return endpoint

    async def _show_login(self, request: Request) -> Response:
        self._check_host(request)
        following = _page_address(request.query_params.get("next", ""))
        token = request.query_params.get("token")
        if token is None:
            return self._login_form(following)
        if not self._links.take(token):
            return self._login_form(following, "The link was used before or is too old.", 401)
        return self._entered(request, "link", following)

    async def _login(self, request: Request) -> Response:
        self._check_host(request)
        check_same_origin(request)
        fields = await form_fields(request)
        key_id, following = fields.get("key", "").strip(), _page_address(fields.get("next", ""))
        address = request.client.host if request.client else ""
        if wait_secs := self._wrong_logins.wait_secs(address):
            wrong = f"There were too many wrong logins; wait {ceil(wait_secs)} seconds, or use a link."
            return self._login_form(following, wrong, 429)
        secret = self._secret_of(key_id)
        given = fields.get("secret", "").strip()
        if secret is None or not hmac.compare_digest(secret.encode(), given.encode()):
            self._wrong_logins.add(address)
            log.warning("console_login_refused", user=key_id, address=address)
            return self._login_form(following, "There is no such access key with this secret.", 401)
        return self._entered(request, key_id, following)

    async def _logout(self, request: Request) -> Response:
        await self._form(request)
        self._sessions.end(request.cookies.get(self._cookie, ""))
        answer = RedirectResponse(LOGIN, 303, headers=HEADERS)
        answer.delete_cookie(self._cookie, ROOT)
        return answer

    def _entered(self, request: Request, key_id: str, following: str) -> Response:
        log.info("console_login", user=key_id)
        answer = RedirectResponse(following, 303, headers=HEADERS)
        secure = request.url.scheme == "https"
        cookie = self._sessions.begin(key_id)
        answer.set_cookie(
            self._cookie, cookie, SESSION_SECS, path=ROOT, httponly=True, samesite="strict", secure=secure
        )
        return answer

    def _check_host(self, request: Request) -> None:
        host = host_name(request)
        if self._loopback and not is_loopback(host):
            raise Refused(
                f"The console answers to 127.0.0.1 and localhost, not to {host!r}; start the service with --host to"
                " reach it by another name.",
                421,
            )

    def _session(self, request: Request) -> Session:
        self._check_host(request)
        found = self._sessions.of(request.cookies.get(self._cookie, ""))
        if found is None:
            raise _LoginNeeded
        return found

    async def _form(self, request: Request) -> tuple[Session, Fields]:
        session = self._session(request)
        check_same_origin(request)
        fields = await form_fields(request, _MOST_FORM_BYTES)
        if not hmac.compare_digest(fields.get(_CSRF, "").encode(), session.csrf.encode()):
            raise Refused("The page is older than its session; reload it.")
        return session, fields

    def _rendered(self, request: Request, session: Session | None, page: Page, status: int = 200) -> Response:
        # A page that renews itself, perhaps in another tab, must not use up what is said once.
        renews = "hx-request" in request.headers
        query = f"?{request.url.query}" if request.url.query else ""
        text = self._templates.get_template(page.template).render(
            **page.values,
            page=page,
            menu=[(url(path), title, path == page.section and session is not None) for path, title in MENU],
            here=request.url.path + query,
            csrf=session.csrf if session else "",
            key_id=session.key_id if session else "",
            notice=session.take_notice() if session and not renews else None,
            region=self._region,
            now_ms=(now_ms := self._reader.now_ms),
            ago=lambda at_ms: distance(at_ms, now_ms),
            url=url,
        )
        return HTMLResponse(text, status, HEADERS)

    def _login_form(self, following: str, wrong: str = "", status: int = 200) -> Response:
        text = self._templates.get_template("login.html").render(following=following, wrong=wrong)
        return HTMLResponse(text, status, HEADERS)

    def _says(self, request: Request, title: str, sentence: str, status: int) -> Response:
        if "hx-request" in request.headers:
            return PlainTextResponse(f"{sentence}\n", status, headers=HEADERS)
        session = self._sessions.of(request.cookies.get(self._cookie, ""))
        page = Page("message.html", title, "none", {"sentence": sentence})
        return self._rendered(request, session, page, status)

    async def _to_login(self, request: Request, _: Exception) -> Response:
        if "hx-request" in request.headers:
            return PlainTextResponse("You are logged out; reload the page.\n", 401, headers=HEADERS)
        if request.method != "GET":
            return await refused(request, Refused("You are logged out; log in and repeat that.", 401))
        following = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(url("login", next=following if following != ROOT else ""), 303, headers=HEADERS)

    async def _nowhere(self, request: Request, _: Exception) -> Response:
        return self._says(request, "Not found", "The console has no such page.", 404)

    async def _refused_operation(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ServiceError)  # this handler is registered only for `ServiceError`
        status = _STATUS.get(error.code, error.status)
        return self._says(request, "Not found" if status == 404 else "Refused", error.message, status)

    async def _broken(self, request: Request, _: Exception) -> Response:
        # Starlette raises the error again, and the server logs it.
        return self._says(request, "Failed", "The page failed here; the service's log has the cause.", 500)

    async def _failed(self, request: Request, error: Exception) -> Response:
        log.warning("console_page_failed", path=request.url.path, error=str(error))
        return self._says(request, "Not available", str(error), 503)


def _page_address(given: str) -> str:
    """Return an address to go to, if it is one of the console's pages; else that of the first page."""
    return given if given.startswith(ROOT) and "\\" not in given and given.isprintable() else ROOT
