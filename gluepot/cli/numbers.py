"""Which numbers options take, beside the bounds of their own."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter


def check_finite(_: object, value: object) -> None:
    """Refuse what Python reads as a number and nothing can be counted with.

    Raises:
        ValueError: it is infinite, or no number.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("Use a number.")


def _check_price(_: object, value: float | None) -> None:
    if value is not None and not 0 <= value < math.inf:
        raise ValueError("Use a number of 0 or more.")


Price = Annotated[float | None, Parameter(validator=_check_price)]
"""A price, if one was given."""
