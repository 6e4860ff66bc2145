"""Keeps rulesets under their names, as AWS Glue's Data Catalog does; they lie beside the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from gluepot.core.database import transaction
from gluepot.evaluation.history.connect import NAME, shared_engine
from gluepot.evaluation.history.tables import rulesets
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.results import CatalogTable


@dataclass(frozen=True, slots=True)
class StoredRuleset:
    """A ruleset with a name.

    Args:
        name: its name.
        text: DQDL.
        description: for people.
        table: the table that it is meant for; None for any.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
        rules: how many rules it has; analyzers do not count.
        recommendation_run_id: id of the run that proposed it; empty if a person wrote it.
        security_configuration: name of the security configuration; empty for none.
    """

    name: str
    text: str
    description: str = ""
    table: CatalogTable | None = None
    created_ms: int = 0
    modified_ms: int = 0
    rules: int = 0
    recommendation_run_id: str = ""
    security_configuration: str = ""


@dataclass(frozen=True, slots=True)
class WantedRulesets:
    """Which rulesets are wanted. Every field that is not None narrows the choice.

    Args:
        name: only the ruleset of this name.
        description: only rulesets with this description.
        table: only rulesets meant for this table.
        created_after_ms: only those that were created later, in milliseconds since 1970.
        created_before_ms: only those that were created earlier.
        modified_after_ms: only those that were changed later.
        modified_before_ms: only those that were changed earlier.
    """

    name: str | None = None
    description: str | None = None
    table: CatalogTable | None = None
    created_after_ms: int | None = None
    created_before_ms: int | None = None
    modified_after_ms: int | None = None
    modified_before_ms: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions of a query."""
        columns = rulesets.c
        equal = [(columns.name, self.name), (columns.description, self.description)]
        if self.table is not None:
            equal += [(columns.database_name, self.table.database), (columns.table_name, self.table.name)]
        found = [column == value for column, value in equal if value is not None]
        for column, after_ms, before_ms in (
            (columns.created_ms, self.created_after_ms, self.created_before_ms),
            (columns.modified_ms, self.modified_after_ms, self.modified_before_ms),
        ):
            found += [] if after_ms is None else [column > after_ms]
            found += [] if before_ms is None else [column < before_ms]
        return found


ALL = WantedRulesets()


class Rulesets:
    """The rulesets of a database. Every method is one transaction.

    Args:
        engine: of the database.
        epoch: gives the time, in seconds since 1970 UTC.
    """

    def __init__(self, engine: Engine, epoch: Callable[[], float]) -> None:
        self._engine = engine
        self._epoch = epoch

    def add(self, ruleset: StoredRuleset) -> bool:
        """Add a ruleset. If there is one of that name, change nothing and return False.

        Args:
            ruleset: its times and its number of rules are found here.

        Raises:
            DqdlError: its text is not valid.
        """
        now_ms = self._now_ms()
        whole = replace(ruleset, rules=rules_in(ruleset.text), created_ms=now_ms, modified_ms=now_ms)
        try:
            with transaction(self._engine, NAME) as connection:
                connection.execute(insert(rulesets).values(_row(whole)))
        except IntegrityError:
            return False
        return True

    def update(self, name: str, text: str | None = None, description: str | None = None) -> StoredRuleset | None:
        """Change a ruleset and return it as it is now; None if there is none of that name.

        Args:
            name: its name.
            text: its new DQDL; None to keep the old one.
            description: its new description; None to keep the old one.

        Raises:
            DqdlError: the new text is not valid.
        """
        changes: dict[str, Any] = {"modified_ms": self._now_ms()}
        if text is not None:
            changes |= {"ruleset": text, "rules": rules_in(text)}
        if description is not None:
            changes["description"] = description
        with transaction(self._engine, NAME) as connection:
            query = update(rulesets).where(rulesets.c.name == name).values(changes).returning(*rulesets.c)
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _ruleset(dict(row))

    def find(self, name: str) -> StoredRuleset | None:
        """Return the ruleset of a name; None if there is none."""
        return next(iter(self.listed(WantedRulesets(name))), None)

    def listed(self, wanted: WantedRulesets = ALL, most: int = 1000, after: str = "") -> list[StoredRuleset]:
        """Return rulesets by name.

        Args:
            wanted: which rulesets.
            most: the largest number of rulesets.
            after: the last name of the page before; empty for the first page.
        """
        query = select(rulesets).where(rulesets.c.name > after, *wanted.conditions())
        with transaction(self._engine, NAME) as connection:
            rows = connection.execute(query.order_by(rulesets.c.name).limit(most)).mappings().all()
        return [_ruleset(dict(row)) for row in rows]

    def remove(self, name: str) -> bool:
        """Remove a ruleset; return False if there is none of that name. Its results stay."""
        with transaction(self._engine, NAME) as connection:
            return connection.execute(delete(rulesets).where(rulesets.c.name == name)).rowcount == 1

    def _now_ms(self) -> int:
        return round(self._epoch() * 1000)


def shared_rulesets(url: str, epoch: Callable[[], float]) -> Rulesets:
    """Return the rulesets of a database, over the connection that this process shares; see `shared_engine`."""
    return Rulesets(shared_engine(url), epoch)


def rules_in(text: str) -> int:
    """Return how many rules a ruleset has, without analyzers.

    Raises:
        DqdlError: the text is not valid.
    """
    return len(parse(text).rules)


def _row(ruleset: StoredRuleset) -> dict[str, Any]:
    table = ruleset.table or CatalogTable("", "")
    return {
        "name": ruleset.name,
        "ruleset": ruleset.text,
        "description": ruleset.description,
        "catalog_id": table.catalog_id,
        "database_name": table.database,
        "table_name": table.name,
        "rules": ruleset.rules,
        "recommendation_run_id": ruleset.recommendation_run_id,
        "security_configuration": ruleset.security_configuration,
        "created_ms": ruleset.created_ms,
        "modified_ms": ruleset.modified_ms,
    }


def _ruleset(row: Mapping[str, Any]) -> StoredRuleset:
    table = CatalogTable(row["database_name"], row["table_name"], row["catalog_id"])
    return StoredRuleset(
        row["name"],
        row["ruleset"],
        row["description"],
        table if table.name else None,
        row["created_ms"],
        row["modified_ms"],
        row["rules"],
        row["recommendation_run_id"],
        row["security_configuration"],
    )
