"""The HTTP side of the API: reads a request, verifies and checks it, calls the operation, answers as AWS does."""

from __future__ import annotations

import hmac
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy.exc import DataError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, EtlError
from gluepot.core.logging import get_logger
from gluepot.core.stored_json import parsed_json
from gluepot.service.errors import ServiceError, invalid
from gluepot.service.figures import Figures
from gluepot.service.wire import forms, query, shapes
from gluepot.service.wire.permissions import check_reads
from gluepot.service.wire.signature import Request, Signer, check_head, verify
from gluepot.service.wire.unsigned_bodies import UnsignedBodies

MOST_BODY_BYTES = 2_000_000
_JSON = "application/x-amz-json-1.1"
SERVICES = {
    "AWSGlue": "glue",
    "Logs_20140328": "logs",
    "AWSEvents": "events",
    "GraniteServiceVersion20100801": "cloudwatch",
}
"""The services by the word that names them in the header `X-Amz-Target`."""

_FORM_WORDS = {"monitoring": "GraniteServiceVersion20100801"}
"""The services that are also called with forms, by the names with which clients sign."""
_SERVER_ERROR = 500
_MOST_MESSAGE_CHARS = 10_000
_GZIP_BITS = 31  # zlib's way to say that a body has the header of gzip
# What all services refuse, by the codes of the older protocol.
_QUERY_CODES = {
    "AccessDeniedException": "AccessDenied",
    "InternalServiceException": "InternalServiceError",
    "InvalidInputException": "InvalidParameterValue",
    "UnknownOperationException": "InvalidAction",
    "ValidationException": "ValidationError",
}

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]

log = get_logger(__name__)


def make_app(
    operations: Mapping[str, Answer],
    take_events: Callable[[Any], int],
    secret_of: Callable[[str], str | None],
    events_token: str,
    account: str,
    figures: Figures,
    clock: Clock,
    readers: Collection[str] = (),
    check_region: Callable[[str, str], None] = lambda *_: None,
) -> Starlette:
    """Return the application.

    Args:
        operations: what answers each operation, by its target, such as `AWSGlue.GetJob`.
        take_events: takes the body of a request with events, and returns how many there are.
        secret_of: returns the secret of an access key; None if there is no such key.
        events_token: must come with events.
        account: twelve digits.
        figures: counts calls, and tells how the service is.
        clock: tells the time.
        readers: ids of the keys that may only read.
        check_region: gets the region and the access key of each call, and may refuse it with a ServiceError.
    """
    unsigned = UnsignedBodies()

    async def answer(http: HttpRequest) -> Response:
        request_id, began_secs, code = str(uuid4()), clock.monotonic(), "OK"
        head = _signed_head(http)
        target = head.headers.get("x-amz-target", "")
        try:
            check_head(head.headers, secret_of)
            with unsigned.reserved() as reserve:
                body = await _body(http, reserve)
                signer = verify(replace(head, body=body), secret_of, clock.epoch())
            if signer.service in query.SERVICES:
                return _xml(200, query.answer(signer, body, account, request_id), request_id)
            check_region(signer.region, signer.access_key)  # those of IAM and STS may be global
            _check_scope(signer, target)
            if http.headers.get("content-encoding") == "gzip":
                body = _unpacked(body)
            may_write = signer.access_key not in readers
            if _is_form(http) and signer.service in _FORM_WORDS:
                text = await run_in_threadpool(_of_form, operations, signer, body, request_id, may_write=may_write)
                return _xml(200, text, request_id)
            if not may_write:
                check_reads(signer, target.partition(".")[2])
            found = await run_in_threadpool(called, operations, target, body)
            return _response(200, found, request_id)
        except ServiceError as refused:
            code = refused.code
            if _is_form(http):
                refused.code = code = _QUERY_CODES.get(code, code)
                return _xml(refused.status, query.refusal(refused, request_id), request_id)
            return _refusal(refused, request_id, SERVICES.get(_word(http), ""))
        finally:
            operation = target.partition(".")[2] if target in operations else "unknown"
            figures.answered(operation, code, clock.monotonic() - began_secs)

    async def metrics(_: HttpRequest) -> Response:
        return Response(await run_in_threadpool(figures.text), media_type=CONTENT_TYPE_LATEST)

    async def health(_: HttpRequest) -> Response:
        trouble = await run_in_threadpool(figures.trouble)
        return PlainTextResponse(trouble or "ok", 503 if trouble else 200)

    async def events(http: HttpRequest) -> Response:
        request_id = str(uuid4())
        try:
            _check_token(http, events_token)
            body = await _body(http)
            accepted = await run_in_threadpool(_taken, take_events, body)
            return _response(200, {"Accepted": accepted}, request_id)
        except ServiceError as refused:
            return _refusal(refused, request_id)

    return Starlette(
        routes=[
            Route("/", answer, methods=["POST"]),
            Route("/events", events, methods=["POST"]),
            Route("/metrics", metrics),
            Route("/health", health),
        ]
    )


def _is_form(http: HttpRequest) -> bool:
    return http.headers.get("content-type", "").startswith(query.FORM)


def _of_form(operations: Mapping[str, Answer], signer: Signer, body: bytes, request_id: str, *, may_write: bool) -> str:
    """Return the answer to a form, as XML."""
    form, word = forms.form_of(body), _FORM_WORDS[signer.service]
    name, service = form.get("Action", ""), SERVICES[word]
    if not may_write:
        check_reads(signer, name)
    target, operation = f"{word}.{name}", shapes.operation(name, service)
    request = {} if operation is None else forms.request_of(form, operation)
    answer = call(operations, target, request)
    assert operation is not None  # the call refuses it
    return forms.answer_of(answer, operation, shapes.model_of(service).metadata["xmlNamespace"], request_id)


def _check_scope(signer: Signer, target: str) -> None:
    """Refuse a request that was signed for another service than it is sent to."""
    service = SERVICES.get(target.partition(".")[0])
    if service is not None and signer.service != (name := shapes.model_of(service).signing_name):
        raise ServiceError("InvalidSignatureException", f"Credential should be scoped to correct service: '{name}'.")


def _check_token(http: HttpRequest, token: str) -> None:
    given = http.headers.get("authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise ServiceError("AccessDeniedException", "The Authorization header has no valid token.", 403)


def called(operations: Mapping[str, Answer], target: str, body: bytes) -> dict[str, Any]:
    """Return the answer of an operation.

    Args:
        operations: what answers each operation, by its target.
        target: the header that names the operation.
        body: JSON.

    Raises:
        ServiceError: the request is refused, or the operation failed.
    """
    word, _, name = target.partition(".")
    service = SERVICES.get(word, "")
    if not service or shapes.operation(name, service) is None:
        raise ServiceError("UnknownOperationException", f"There is no operation {target!r}.")
    if target not in operations:
        raise ServiceError(
            "UnknownOperationException",
            f"Gluepot does not support {name}; docs/service.md lists the supported operations.",
        )
    with _told_errors(name):
        request = _object(body)
        shapes.check_request(name, request, service)
        return operations[target](_without_nulls(request))


def call(operations: Mapping[str, Answer], target: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of an operation to a request from within, which is checked as those of clients are.

    Args:
        operations: what answers each operation, by its target.
        target: the operation's.
        request: its members.

    Raises:
        ServiceError: the request is refused, or the operation failed.
    """
    return called(operations, target, json.dumps(request).encode())


def _taken(take_events: Callable[[Any], int], body: bytes) -> int:
    with _told_errors("events"):
        return take_events(_parsed(body))


@contextmanager
def _told_errors(name: str) -> Iterator[None]:
    """Tell a client of errors that are not its own in one sentence; the log has the rest."""
    try:
        yield
    except ServiceError:
        raise
    except ConfigError as error:
        raise invalid(str(error)) from error
    except DataError as error:  # of PostgreSQL: texts with the character NUL, and longer ones than a column takes
        message = f"The database cannot hold a value of the request ({error.orig}); correct it."
        raise ServiceError("ValidationException", message) from error
    except RecursionError:
        message = "A value of the request is nested too deeply; use fewer levels."
        raise ServiceError("ValidationException", message) from None
    except EtlError as error:
        log.warning("service_operation_failed", operation=name, error=str(error))
        raise ServiceError("InternalServiceException", str(error), 500) from error
    except Exception as error:
        log.exception("service_operation_failed", operation=name)
        message = f"{name} failed; the service's log has the cause."
        raise ServiceError("InternalServiceException", message, 500) from error


def _object(body: bytes) -> dict[str, Any]:
    found = _parsed(body)
    if not isinstance(found, dict):
        raise ServiceError("SerializationException", "The body is not a JSON object.")
    return found


def _parsed(body: bytes) -> Any:
    try:
        return parsed_json(body or b"{}")
    except ValueError:
        raise ServiceError("SerializationException", "The body is not JSON.") from None


def _without_nulls(value: Any) -> Any:
    """Return a request without the members that are null, which is the same as leaving them out."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def _unpacked(body: bytes) -> bytes:
    """Return the content of a compressed body; clients compress larger requests of PutMetricData."""
    unpacking = zlib.decompressobj(wbits=_GZIP_BITS)
    try:
        found = unpacking.decompress(body, MOST_BODY_BYTES + 1)
    except zlib.error:
        raise ServiceError("SerializationException", "The body is not in the format gzip.") from None
    if len(found) > MOST_BODY_BYTES:
        raise _too_large()
    return found


def _too_large() -> ServiceError:
    return ServiceError(
        "RequestEntityTooLargeException",
        f"The request has more than {MOST_BODY_BYTES} bytes; send less in one call.",
        413,
    )


async def _body(http: HttpRequest, reserve: Callable[[int], None] = lambda _: None) -> bytes:
    """Return the body of a request.

    Args:
        http: the request.
        reserve: called with the size of each piece.
    """
    parts, size = [], 0
    async for part in http.stream():
        size += len(part)
        if size > MOST_BODY_BYTES:
            raise _too_large()
        reserve(len(part))
        parts.append(part)
    return b"".join(parts)


def _signed_head(http: HttpRequest) -> Request:
    """Return what the signature of a request covers, without the body, which may not have arrived.

    The values of a header that comes twice are joined, as for a signature, so that none of them is left out of it.
    """
    headers = {name: ",".join(http.headers.getlist(name)) for name in http.headers}
    query = f"?{http.url.query}" if http.url.query else ""
    return Request(http.method, f"http://{headers.get('host', '')}{http.url.path}{query}", headers, b"")


def _word(http: HttpRequest) -> str:
    """Return the word that names the service of a request."""
    return http.headers.get("x-amz-target", "").partition(".")[0]


def _refusal(refused: ServiceError, request_id: str, service: str = "") -> Response:
    code, headers = refused.code, {}
    if service and "awsQueryCompatible" in shapes.model_of(service).metadata:
        # Clients decide by the codes of the service's older protocol, which are not the names of its errors.
        code = _QUERY_CODES.get(code, code)
        headers["x-amzn-query-error"] = f"{code};{'Sender' if refused.status < _SERVER_ERROR else 'Receiver'}"
        code = shapes.error_name(code, service)
    message = refused.message
    if len(message) > _MOST_MESSAGE_CHARS:  # it repeats a value of the request
        message = f"{message[:_MOST_MESSAGE_CHARS]}..."
    return _response(refused.status, {"__type": code, "Message": message}, request_id, headers)


def _response(
    status: int, body: Mapping[str, Any], request_id: str, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(json.dumps(body), status, {"x-amzn-RequestId": request_id, **(headers or {})}, _JSON)


def _xml(status: int, text: str, request_id: str) -> Response:
    return Response(text, status, {"x-amzn-RequestId": request_id}, "text/xml")
