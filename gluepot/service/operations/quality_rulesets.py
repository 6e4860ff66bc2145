"""Rulesets of data quality (docs/glue 12.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluepot.evaluation.history.rulesets import StoredRuleset, WantedRulesets
from gluepot.evaluation.history.shapes import ruleset_entry, ruleset_shape
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.results import CatalogTable
from gluepot.service.context import Service
from gluepot.service.errors import invalid, not_found, taken
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import cut, position_of, size_of
from gluepot.service.quality_store import ruleset_named, rulesets_of

KIND = "dataQualityRuleset"
_PAGE = 100


def create_data_quality_ruleset(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a ruleset."""
    tags = request.get("Tags") or {}
    check_tags(tags)
    target = request.get("TargetTable")
    ruleset = StoredRuleset(
        request["Name"],
        request["Ruleset"],
        request.get("Description", ""),
        None if target is None else _table(target),
        security_configuration=request.get("DataQualitySecurityConfiguration", ""),
    )
    try:
        added = rulesets_of(service).add(ruleset)
    except DqdlError as error:
        raise invalid(str(error)) from None
    if not added and not (request.get("ClientToken") and _is_known(service, ruleset)):
        raise taken(f"Data quality ruleset {ruleset.name} already exists.")
    if added:
        with service.store.changes() as changes:
            changes.untag(service.arn(KIND, ruleset.name))
            changes.tag(service.arn(KIND, ruleset.name), tags)
    return {"Name": ruleset.name}


def get_data_quality_ruleset(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one ruleset."""
    return ruleset_shape(ruleset_named(service, request["Name"]))


def list_data_quality_rulesets(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of rulesets, by name."""
    most, after = size_of(request, _PAGE), position_of(request.get("NextToken"))
    wanted, tags = _wanted(request.get("Filter") or {}), (request.get("Tags") or {}).items()
    found: list[StoredRuleset] = []
    while len(found) <= most:
        some = rulesets_of(service).listed(wanted, most + 1, after)
        found += [one for one in some if not tags or tags <= _tags(service, one.name).items()]
        if len(some) <= most:
            break
        after = some[-1].name
    shown, rest = cut(found, most, lambda one: one.name)
    return {"Rulesets": [ruleset_entry(one) for one in shown], **rest}


def update_data_quality_ruleset(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Change the text or the description of a ruleset."""
    name = request["Name"]
    try:
        found = rulesets_of(service).update(name, request.get("Ruleset"), request.get("Description"))
    except DqdlError as error:
        raise invalid(str(error)) from None
    if found is None:
        raise not_found(f"Data quality ruleset {name} not found.")
    return {"Name": found.name, "Description": found.description, "Ruleset": found.text}


def delete_data_quality_ruleset(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a ruleset. Its results stay."""
    if not rulesets_of(service).remove(request["Name"]):
        raise not_found(f"Data quality ruleset {request['Name']} not found.")
    with service.store.changes() as changes:
        changes.untag(service.arn(KIND, request["Name"]))
    return {}


def _is_known(service: Service, ruleset: StoredRuleset) -> bool:
    """Tell whether there is the same ruleset already: a client that got no answer asks again."""
    found = rulesets_of(service).find(ruleset.name)
    return found is not None and ruleset == replace(found, created_ms=0, modified_ms=0, rules=0)


def _tags(service: Service, name: str) -> dict[str, str]:
    with service.store.changes() as changes:
        return changes.tags(service.arn(KIND, name))


def _wanted(given: Mapping[str, Any]) -> WantedRulesets:
    target = given.get("TargetTable")
    times = {
        member: None if given.get(name) is None else round(given[name] * 1000)
        for member, name in (
            ("created_after_ms", "CreatedAfter"),
            ("created_before_ms", "CreatedBefore"),
            ("modified_after_ms", "LastModifiedAfter"),
            ("modified_before_ms", "LastModifiedBefore"),
        )
    }
    table = None if target is None else _table(target)
    return WantedRulesets(given.get("Name"), given.get("Description"), table, **times)


def _table(target: Mapping[str, str]) -> CatalogTable:
    return CatalogTable(target["DatabaseName"], target["TableName"], target.get("CatalogId", ""))
