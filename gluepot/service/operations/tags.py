"""Tags of resources (docs/glue 11.10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from gluepot.service.catalog import resource_of_catalog
from gluepot.service.context import Service
from gluepot.service.errors import invalid, not_found
from gluepot.service.quality_store import rulesets_of
from gluepot.service.store.database import Changes
from gluepot.service.store.definitions import Kind

_MOST_TAGS = 50
_RESERVED = "aws:"


def get_tags(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags of a resource."""
    with _resource(service, request["ResourceArn"]) as (changes, arn):
        return {"Tags": changes.tags(arn)}


def tag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add tags to a resource, or give them other values."""
    added = request["TagsToAdd"]
    with _resource(service, request["ResourceArn"]) as (changes, arn):
        check_tags({**changes.tags(arn), **added})
        changes.tag(arn, added)
    return {}


def untag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove tags from a resource; those that it has not are no error."""
    with _resource(service, request["ResourceArn"]) as (changes, arn):
        changes.tag(arn, {}, request["TagsToRemove"])
    return {}


def check_tags(tags: Mapping[str, str]) -> None:
    """Refuse too many tags, and names that AWS keeps for itself.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    if len(tags) > _MOST_TAGS:
        raise invalid(f"The resource would have {len(tags)} tags; {_MOST_TAGS} are allowed.")
    if (reserved := next((key for key in tags if key.startswith(_RESERVED)), None)) is not None:
        raise invalid(f"The tag {reserved} begins with {_RESERVED}, which AWS keeps for itself; choose another name.")


@contextmanager
def _resource(service: Service, arn: str) -> Iterator[tuple[Changes, str]]:
    """Yield a transaction, and the ARN of a resource that exists.

    The catalog is asked before the transaction begins, because both may have their tables in the same database.
    """
    of_catalog = resource_of_catalog(service, arn)
    with service.store.changes() as changes:
        yield changes, of_catalog or _known(service, changes, arn)


def _known(service: Service, changes: Changes, arn: str) -> str:
    parts = arn.split(":", 5)
    kind, _, name = parts[-1].partition("/")
    if parts[:3] != ["arn", "aws", "glue"] or not name:
        raise invalid(f"ResourceArn is {arn!r}; use the form {service.arn('job', 'NAME')}.")
    lookups: Mapping[str, Callable[[str], object]] = {
        "job": changes.job,
        "trigger": changes.triggers.get,
        "workflow": changes.workflows.get,
        "crawler": changes.crawlers.get,
        "dataQualityRuleset": rulesets_of(service).find,
        "registry": partial(changes.definitions.get, Kind.REGISTRY),
        "schema": partial(changes.definitions.get, Kind.SCHEMA),
    }
    lookup = lookups.get(kind)
    if lookup is None or lookup(name) is None:
        raise not_found(f"There is no {kind} {name}.")
    return service.arn(kind, name)
