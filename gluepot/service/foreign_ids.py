"""Notices calls that name another account, catalog or region than the service's: clients are often set up for AWS.

The service has one account, one catalog and one region, so it ignores the ids and logs one warning for each name. With
`strict`, it refuses the call as AWS does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.core.logging import get_logger
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import Origin

log = get_logger(__name__)

CATALOG, ACCOUNT, REGION = "catalog", "account", "region"
_DEEPEST = 3
_MOST_WARNINGS = 100
# Maps whose keys the client chooses.
_NAMES_OF_THE_CLIENT = frozenset(
    {
        *("Tags", "TagsToAdd", "Parameters", "Arguments", "DefaultArguments", "NonOverridableArguments"),
        *("ConnectionProperties", "RunProperties", "DefaultRunProperties"),
    }
)
_ARN_PARTS = 6
_HINT = "the service ignores this id: it has one account, catalog and region; use --strict-account to refuse such calls"

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ForeignId:
    """An id in a call that is not the service's.

    Args:
        kind: `catalog`, `account` or `region`.
        name: the id.
        resource: the ARN that the call names, or would name.
    """

    kind: str
    name: str
    resource: str


def foreign_ids(request: Mapping[str, Any], own: Origin) -> Iterator[ForeignId]:
    """Yield the ids of a request that are not the service's.

    Args:
        request: a request of AWS Glue; its `CatalogId`s and the ARNs of AWS Glue resources are checked.
        own: account and region of the service.
    """
    for member, text in _texts(request, _DEEPEST):
        if member == "CatalogId" and text != own.account:
            yield ForeignId(CATALOG, text, f"arn:aws:glue:{own.region}:{text}:catalog")
        elif member.endswith("Arn"):
            parts = text.split(":", _ARN_PARTS - 1)
            if len(parts) == _ARN_PARTS and parts[2] == "glue":
                if parts[3] != own.region:
                    yield ForeignId(REGION, parts[3], text)
                if parts[4] != own.account:
                    yield ForeignId(ACCOUNT, parts[4], text)


def _texts(value: Any, deepest: int) -> Iterator[tuple[str, str]]:
    for member, one in value.items():
        if isinstance(one, str):
            yield member, one
        elif isinstance(one, Mapping) and deepest > 1 and member not in _NAMES_OF_THE_CLIENT:
            yield from _texts(one, deepest - 1)


class ForeignIds:
    """Logs and counts foreign ids, and refuses the calls if it is strict.

    Args:
        own: account and region of the service.
        count: gets the kind of each foreign id, for the metrics.
        strict: whether calls are refused.
    """

    def __init__(self, own: Origin, count: Callable[[str], None], *, strict: bool = False) -> None:
        self._own = own
        self._count = count
        self._strict = strict
        self._told: set[tuple[str, str]] = set()

    def watched(self, operations: Mapping[str, Answer]) -> dict[str, Answer]:
        """Return operations, by their targets, that first check the ids of each AWS Glue request."""
        return {
            target: self._watched(target.partition(".")[2], answer) if target.startswith("AWSGlue.") else answer
            for target, answer in operations.items()
        }

    def check_region(self, region: str, access_key: str) -> None:
        """Check the region that a call was signed for.

        Raises:
            ServiceError: it is not the service's region, and the service is strict.
        """
        if region != self._own.region:
            self._found(ForeignId(REGION, region, ""), access_key)
            if self._strict:
                message = f"Credential should be scoped to a valid region, not '{region}'."
                raise ServiceError("InvalidSignatureException", message)

    def _watched(self, name: str, answer: Answer) -> Answer:
        def watched(request: Mapping[str, Any]) -> dict[str, Any]:
            for one in foreign_ids(request, self._own):
                self._found(one, name)
                if self._strict:
                    raise ServiceError(
                        "AccessDeniedException",
                        f"The caller is not authorized to perform: glue:{name} on resource: {one.resource}. The account"
                        f" of this service is {self._own.account}, and its region is {self._own.region}.",
                    )
            return answer(request)

        return watched

    def _found(self, one: ForeignId, by: str) -> None:
        self._count(one.kind)
        if (one.kind, one.name) not in self._told and len(self._told) < _MOST_WARNINGS:
            self._told.add((one.kind, one.name))
            log.warning("foreign_id", kind=one.kind, id=one.name, by=by, hint=_HINT)
