"""The operations of STS and IAM that clients of Glue call: requests are forms, and answers are XML. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gluepot.service.errors import ServiceError
from gluepot.service.wire.forms import enveloped, form_of, xml_text
from gluepot.service.wire.signature import Signer

FORM = "application/x-www-form-urlencoded"
"""The content type of requests."""

_STS, _IAM = "https://sts.amazonaws.com/doc/2011-06-15/", "https://iam.amazonaws.com/doc/2010-05-08/"
_REFUSAL = """<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>
<RequestId>{id}</RequestId></ErrorResponse>"""


def answer(signer: Signer, body: bytes, account: str, request_id: str) -> str:
    """Return the answer of an operation.

    Args:
        signer: who called, and which service; one of `SERVICES`.
        body: the form.
        account: twelve digits.
        request_id: of this call.

    Raises:
        ServiceError: there is no such operation here, or the form lacks something.
    """
    form = form_of(body)
    action, (namespace, operations) = form.get("Action", ""), SERVICES[signer.service]
    if action not in operations:
        raise ServiceError(
            "InvalidAction",
            f"{signer.service.upper()} does not support {action!r} here; it supports {', '.join(operations)}.",
        )
    result = operations[action](form, signer, account)
    return enveloped(action, result, namespace, request_id)


def refusal(refused: ServiceError, request_id: str) -> str:
    """Return an error as clients of these services expect it."""
    return _REFUSAL.format(code=xml_text(refused.code), message=xml_text(refused.message), id=request_id)


def _caller(_: Mapping[str, str], signer: Signer, account: str) -> str:
    key = xml_text(signer.access_key)
    return f"<Arn>arn:aws:iam::{account}:user/{key}</Arn><UserId>{key}</UserId><Account>{account}</Account>"


def _role(form: Mapping[str, str], _: Signer, account: str) -> str:
    """Return the role of any name, because roles of jobs are kept and not used. Airflow asks for its ARN."""
    if not (name := xml_text(form.get("RoleName", ""))):
        raise ServiceError("ValidationError", "RoleName is missing; give any name.")
    return (
        f"<Role><Path>/</Path><RoleName>{name}</RoleName><RoleId>{name}</RoleId>"
        f"<Arn>arn:aws:iam::{account}:role/{name}</Arn><CreateDate>1970-01-01T00:00:00Z</CreateDate></Role>"
    )


SERVICES: Mapping[str, tuple[str, Mapping[str, Callable[[Mapping[str, str], Signer, str], str]]]] = {
    "sts": (_STS, {"GetCallerIdentity": _caller}),
    "iam": (_IAM, {"GetRole": _role}),
}
"""The operations of each service by their names, with the namespace of their answers."""
