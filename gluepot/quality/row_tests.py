"""Which rows a rule passes, for rules that have a result for each row (docs/glue 12.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.quality.checks import Setting
from gluepot.quality.dqdl.ruleset import Composite, Rule, TopRule, simple_rules
from gluepot.quality.measures import ages, find_name
from gluepot.quality.numbers import RuleError
from gluepot.quality.values import fulfilled, lengths

ACROSS_ROWS = frozenset({"Uniqueness", "IsUnique", "UniqueValueRatio"})
"""A row passes these if its value occurs once in the whole data set."""
_WITH_CONDITION = frozenset({"ColumnValues", "ColumnLength", "DataFreshness"})
_COMPLETE = frozenset({"Completeness", "IsComplete"})


@dataclass(frozen=True, slots=True)
class RowTests:
    """Tells rows that pass a rule from those that fail it.

    Args:
        setting: what rules are judged in.
        flags: by rule the column that holds its result, for rules whose result other rows decide.
    """

    setting: Setting
    flags: Mapping[Rule, str] = field(default_factory=dict)

    def has(self, rule: TopRule) -> bool:
        """Return whether the rule has a result for each row; a composite has if all its parts have."""
        if isinstance(rule, Composite):
            return all(map(self.has, simple_rules(rule)))
        return rule in self.flags or rule.type_name in _COMPLETE | _WITH_CONDITION

    def passed(self, rule: TopRule, batch: pa.RecordBatch) -> pa.BooleanArray:
        """Return for each row whether it passes; null for rows that the rule's `where` leaves out.

        Raises:
            RuleError: the rule cannot be judged on these rows.
        """
        if isinstance(rule, Composite):
            combine = pc.and_kleene if rule.word == "and" else pc.or_kleene
            first, *others = (self.passed(part, batch) for part in rule.parts)
            for one in others:
                first = combine(first, one)
            return first
        try:
            passed = self._own(rule, batch)
        except pa.ArrowException as error:
            raise RuleError(str(error).splitlines()[0]) from None
        mask = self.setting.mask(rule)
        if not mask:
            return passed
        chosen = pc.fill_null(batch.column(mask), pa.scalar(False))
        return pc.if_else(chosen, passed, pa.scalar(None, pa.bool_()))

    def _own(self, rule: Rule, batch: pa.RecordBatch) -> pa.BooleanArray:
        if rule in self.flags:
            return pc.fill_null(batch.column(self.flags[rule]), pa.scalar(False))
        name = find_name(batch.schema.names, rule.parameters[0])
        array = pa.nulls(batch.num_rows) if name is None else batch.column(name)
        if rule.type_name in _COMPLETE:
            return pc.is_valid(array)
        test = self.setting.test(rule)
        match rule.type_name:
            case "ColumnValues":
                return fulfilled(array, test)
            case "ColumnLength":
                return fulfilled(lengths(array), test)
            case _:
                return fulfilled(ages(array, self.setting.now.epoch_secs), test)
