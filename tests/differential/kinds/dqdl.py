"""Rulesets of DQDL: our measures, taken in pieces and merged, beside SQL in DuckDB over the whole table.

The rules, the data and the SQL are those of `tests/unit/quality/test_oracle.py`, which runs the same seeds in each run
of the tests. CustomSql and ReferentialIntegrity are left out: Spark itself evaluates them.
"""

from __future__ import annotations

import traceback
from random import Random

from tests.differential.kind import Difference, Round, World
from tests.unit.quality.test_oracle import check, generated

_RULESETS = 50
# The seeds of the tests are smaller.
_FIRST_SEED = 1_000_000


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "dqdl"
    unit = "rules"

    def round(self, random: Random, world: World, rulesets: int = _RULESETS) -> Round:
        """Compare some rulesets; each rule is judged alone, and the first three in a composite."""
        del world
        result = Round()
        for _ in range(rulesets):
            seed = random.randrange(_FIRST_SEED, 10**9)
            _, _, _, rules = generated(seed)
            result.cases += len(rules)
            result.taken += len(rules)
            try:
                check(seed)
            except Exception as error:  # noqa: BLE001  a failed comparison, or a failure of ours
                texts = ", ".join(text for text, _, _ in rules)
                shown = traceback.format_exception_only(error)[-1]
                case = f"tests.unit.quality.test_oracle.check({seed}): {texts}"
                result.differences.append(Difference(case, shown[:2000], "what SQL gives, see there"))
        return result
