"""Classifiers of crawlers (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.service import classifiers
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.paging import page_by_name
from gluepot.service.store.definitions import Definition, Kind

_PAGE = 100


def create_classifier(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a classifier."""
    kind, body = classifiers.given(request)
    classifiers.check(kind, body)
    now_ms = service.now_ms()
    made = Definition(Kind.CLASSIFIER, body["Name"], {kind: {**body, "Version": 1}}, now_ms, now_ms)
    with service.store.changes() as changes:
        if not changes.definitions.add(made):
            raise taken(f"Classifier {made.name} already exists.")
    return {}


def get_classifier(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one classifier."""
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.CLASSIFIER, request["Name"])
    if found is None:
        raise _missing(request["Name"])
    return {"Classifier": classifiers.answer(found)}


def get_classifiers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the classifiers, by name."""
    with service.store.changes() as changes:
        found = changes.definitions.all(Kind.CLASSIFIER)
    some, token = page_by_name(found, lambda one: one.name, request, _PAGE)
    return {"Classifiers": [classifiers.answer(one) for one in some], **token}


def update_classifier(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Change the members of a classifier that the request has."""
    kind, body = classifiers.given(request)
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.CLASSIFIER, body["Name"])
        if found is None:
            raise _missing(body["Name"])
        if kind not in found.body:
            raise invalid(f"The classifier {found.name} is a {next(iter(found.body))} and cannot become a {kind}.")
        known = found.body[kind]
        changed = {**known, **body, "Version": known["Version"] + 1}
        classifiers.check(kind, changed)
        changes.definitions.save(found.changed({kind: changed}, service.now_ms()))
    return {}


def delete_classifier(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a classifier."""
    with service.store.changes() as changes:
        if not changes.definitions.delete(Kind.CLASSIFIER, request["Name"]):
            raise _missing(request["Name"])
    return {}


def _missing(name: str) -> ServiceError:
    return not_found(f"Classifier {name} not found.")
