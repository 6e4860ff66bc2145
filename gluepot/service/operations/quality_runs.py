"""Runs that evaluate rulesets of data quality, or recommend one (docs/glue 12.6)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from gluepot.core.failpoints import reach
from gluepot.service.catalog import catalog_of
from gluepot.service.context import Service
from gluepot.service.decisions.definitions import is_quality_run
from gluepot.service.decisions.quality_runs import (
    answer_of,
    check_options,
    entry_of,
    fulfils,
    is_same,
    new_run,
    place_of,
    request_of,
)
from gluepot.service.decisions.states import EVALUATION, OPEN, RECOMMENDATION, Run, State, asked_to_stop
from gluepot.service.errors import ServiceError, invalid, not_found
from gluepot.service.paging import cut, number_of, size_of
from gluepot.service.quality_store import ruleset_named, rulesets_of
from gluepot.service.store.database import Changes

_PAGE, _PIECE = 100, 100
# A client that got no answer asks again soon.
_RECENT = 100


def start_data_quality_ruleset_evaluation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a run that evaluates rulesets on a table."""
    check_options(request)
    _check_tables(service, request)
    rulesets = {name: ruleset_named(service, name).text for name in request["RulesetNames"]}
    return _started(service, EVALUATION, request, rulesets)


def start_data_quality_rule_recommendation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a run that recommends a ruleset for a table."""
    _check_tables(service, request)
    name = request.get("CreatedRulesetName")
    if name and rulesets_of(service).find(name) is not None:
        raise ServiceError("ConflictException", f"Data quality ruleset {name} already exists; choose another name.")
    return _started(service, RECOMMENDATION, request, {})


def get_data_quality_ruleset_evaluation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one run that evaluates."""
    return _answer(service, EVALUATION, request["RunId"])


def get_data_quality_rule_recommendation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one run that recommends, with the ruleset once it has ended."""
    return _answer(service, RECOMMENDATION, request["RunId"])


def cancel_data_quality_ruleset_evaluation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Stop a run that evaluates."""
    return _cancelled(service, EVALUATION, request["RunId"])


def cancel_data_quality_rule_recommendation_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Stop a run that recommends."""
    return _cancelled(service, RECOMMENDATION, request["RunId"])


def list_data_quality_ruleset_evaluation_runs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the runs that evaluate, the newest first."""
    return _listed(service, EVALUATION, request)


def list_data_quality_rule_recommendation_runs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the runs that recommend, the newest first."""
    return _listed(service, RECOMMENDATION, request)


def quality_run(changes: Changes, kind: str, run_id: str) -> Run:
    """Return a run of data quality.

    Args:
        changes: the transaction.
        kind: `EVALUATION` or `RECOMMENDATION`.
        run_id: its id.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.run(run_id)
    if found is None or found.job != kind or not is_quality_run(found.definition):
        raise not_found(f"Data quality run {run_id} not found.")
    return found


def _started(service: Service, kind: str, request: Mapping[str, Any], rulesets: Mapping[str, str]) -> dict[str, Any]:
    token = request.get("ClientToken")
    with service.store.changes() as changes:
        changes.alone()
        if token is not None:
            for one in changes.runs(kind, None, _RECENT):
                if request_of(one).get("ClientToken") == token:
                    if not is_same(one, request):
                        raise invalid(f"ClientToken {token} was used for another request; choose another one.")
                    return {"RunId": one.id}
        run_id = f"dqrun-{secrets.token_hex(20)}"
        changes.add_run(new_run(kind, run_id, request, rulesets, service.now_ms()))
        reach("service.adding_quality_run")
    reach("service.quality_run_added")
    service.wake()
    return {"RunId": run_id}


def _check_tables(service: Service, request: Mapping[str, Any]) -> None:
    for source in (request["DataSource"], *request.get("AdditionalDataSources", {}).values()):
        place = place_of(source)
        with catalog_of(service) as catalog:
            catalog.table(place.database, place.table)


def _answer(service: Service, kind: str, run_id: str) -> dict[str, Any]:
    with service.store.changes() as changes:
        return answer_of(quality_run(changes, kind, run_id))


def _cancelled(service: Service, kind: str, run_id: str) -> dict[str, Any]:
    with service.store.changes() as changes:
        found = quality_run(changes, kind, run_id)
        if found.state not in OPEN:
            raise invalid(f"Data quality run {run_id} has ended and cannot be stopped.")
        if found.state is not State.STOPPING:
            changes.change_run(asked_to_stop(found, service.now_ms()))
    service.wake()
    return {}


def _listed(service: Service, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
    most, before, wanted = size_of(request, _PAGE), number_of(request.get("NextToken")), request.get("Filter") or {}
    found: list[Run] = []
    with service.store.changes() as changes:
        while len(found) <= most:
            some = changes.runs(kind, before, _PIECE)
            found += [one for one in some if fulfils(one, wanted)]
            if len(some) < _PIECE:
                break
            before = some[-1].number
    shown, rest = cut(found, most, lambda one: str(one.number))
    return {"Runs": [entry_of(one) for one in shown], **rest}
