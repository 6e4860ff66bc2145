"""Rulesets and results of data quality, which lie in the database of the ledger that jobs use.

What reads them takes memory that a service needs only if somebody asks for data quality, so it is loaded then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.service.context import Service
from gluepot.service.errors import not_found

if TYPE_CHECKING:
    from gluepot.evaluation.history.rulesets import Rulesets, StoredRuleset
    from gluepot.evaluation.history.store import History


def rulesets_of(service: Service) -> Rulesets:
    """Return the rulesets."""
    from gluepot.evaluation.history.rulesets import shared_rulesets  # noqa: PLC0415

    return shared_rulesets(ledger_url(service.environ), service.clock.epoch)


def results_of(service: Service) -> History:
    """Return the results of evaluations."""
    from gluepot.evaluation.history.store import shared_history  # noqa: PLC0415

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
