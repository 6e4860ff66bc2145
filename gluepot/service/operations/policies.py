"""Resource policies: kept and returned. Who may call the service is decided by keys alone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from gluepot.service.context import Service, secs
from gluepot.service.errors import ServiceError, invalid, not_found
from gluepot.service.paging import page_by_name
from gluepot.service.store.definitions import Definition, Kind

_PAGE = 100
_MOST_CHARS = 10_240
_MOST_ARN_CHARS = 1000


def put_resource_policy(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Set the policy of a resource, or of the catalog, if the conditions of the request are met."""
    text, place, now_ms = request["PolicyInJson"], _place(request), service.now_ms()
    _check(text)
    exists = request.get("PolicyExistsCondition", "NONE")
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.POLICY, place)
        if exists == "MUST_EXIST" and found is None:
            raise _missing()
        if exists == "NOT_EXIST" and found is not None:
            raise _failed("There is a policy already, and PolicyExistsCondition is NOT_EXIST.")
        _check_hash(request, found)
        created_ms = now_ms if found is None else found.created_ms
        changes.definitions.put(Definition(Kind.POLICY, place, {"PolicyInJson": text}, created_ms, now_ms))
    return {"PolicyHash": _hash(text)}


def get_resource_policy(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy of a resource, or of the catalog."""
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.POLICY, _place(request))
    if found is None:
        raise _missing()
    return _answer(found)


def get_resource_policies(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of all policies; that of the catalog is the first."""
    with service.store.changes() as changes:
        found = changes.definitions.all(Kind.POLICY)
    # A position in the order is never empty, as the place of the catalog's policy is.
    some, token = page_by_name(found, lambda one: f"/{one.name}", request, _PAGE)
    return {"GetResourcePoliciesResponseList": [_answer(one) for one in some], **token}


def delete_resource_policy(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the policy of a resource, or of the catalog."""
    place = _place(request)
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.POLICY, place)
        if found is None:
            raise _missing()
        _check_hash(request, found)
        changes.definitions.delete(Kind.POLICY, place)
    return {}


def _place(request: Mapping[str, Any]) -> str:
    """Return the ARN of the resource; an empty text for the catalog."""
    arn = request.get("ResourceArn", "")
    if len(arn) > _MOST_ARN_CHARS:
        raise invalid(f"ResourceArn has {len(arn)} characters; {_MOST_ARN_CHARS} are allowed.")
    return "" if arn.split(":", 5)[-1] == "catalog" else str(arn)


def _check(text: str) -> None:
    if len(text) > _MOST_CHARS:
        raise invalid(f"PolicyInJson has {len(text)} characters; {_MOST_CHARS} are allowed.")
    try:
        policy = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid(f"PolicyInJson is not JSON: {error}.") from None
    if not isinstance(policy, dict) or not policy.get("Statement"):
        raise invalid('PolicyInJson has no Statement; give a policy, as {"Version": "2012-10-17", "Statement": [...]}.')


def _check_hash(request: Mapping[str, Any], found: Definition | None) -> None:
    wanted = request.get("PolicyHashCondition")
    if wanted is not None and (found is None or _hash(found.body["PolicyInJson"]) != wanted):
        raise _failed("The policy has another hash than PolicyHashCondition; read it again.")


def _answer(found: Definition) -> dict[str, Any]:
    return {
        "PolicyInJson": found.body["PolicyInJson"],
        "PolicyHash": _hash(found.body["PolicyInJson"]),
        "CreateTime": secs(found.created_ms),
        "UpdateTime": secs(found.modified_ms),
    }


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode(errors="surrogatepass")).digest()).decode()


def _missing() -> ServiceError:
    return not_found("Policy not found.")


def _failed(message: str) -> ServiceError:
    return ServiceError("ConditionCheckFailureException", message)
