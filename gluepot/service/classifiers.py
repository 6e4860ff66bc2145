"""Classifiers of crawlers: which kind a request has, what is refused, what an update changes (docs/glue 11.6). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.crawl.classify import custom
from gluepot.service.context import secs
from gluepot.service.errors import invalid
from gluepot.service.store.definitions import Definition

KINDS = custom.KINDS


def given(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the kind of the classifier that a request has, and its members.

    Raises:
        ServiceError: `InvalidInputException`, because it has none or several.
    """
    found = [name for name in KINDS if name in request]
    if len(found) != 1:
        raise invalid(f"The request has {' and '.join(found) or 'no classifier'}; give one of {', '.join(KINDS)}.")
    return found[0], dict(request[found[0]])


def check(kind: str, body: Mapping[str, Any]) -> None:
    """Refuse a classifier that cannot classify.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    if kind == "CsvClassifier" and body.get("Delimiter") is not None and body["Delimiter"] == body.get("QuoteSymbol"):
        raise invalid(f"Delimiter and QuoteSymbol are both {body['Delimiter']!r}; use different ones.")
    if kind == "JsonClassifier" and not body["JsonPath"].startswith("$"):
        raise invalid(f"JsonPath is {body['JsonPath']!r}; it begins with $, as in $.records[*].")
    try:
        custom.check(custom.Custom(kind, body))
    except ConfigError as error:
        raise invalid(str(error)) from None


def answer(classifier: Definition) -> dict[str, Any]:
    """Return a classifier as GetClassifier answers."""
    kind, members = next(iter(classifier.body.items()))
    times = {"CreationTime": secs(classifier.created_ms), "LastUpdated": secs(classifier.modified_ms)}
    return {kind: {**members, **times}}
