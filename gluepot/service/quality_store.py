"""Rulesets and results of data quality, which lie in the database of the ledger that jobs use."""

from __future__ import annotations

from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.evaluation.history.rulesets import Rulesets, StoredRuleset, shared_rulesets
from gluepot.evaluation.history.store import History, shared_history
from gluepot.service.context import Service
from gluepot.service.errors import not_found


def rulesets_of(service: Service) -> Rulesets:
    """Return the rulesets."""
    return shared_rulesets(ledger_url(service.environ), service.clock.epoch)


def results_of(service: Service) -> History:
    """Return the results of evaluations."""
    return shared_history(ledger_url(service.environ))


def ruleset_named(service: Service, name: str) -> StoredRuleset:
    """Return a ruleset.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = rulesets_of(service).find(name)
    if found is None:
        raise not_found(f"Data quality ruleset {name} not found.")
    return found
