"""Numbers with the digits that the model is good for. Pure."""

from __future__ import annotations


def seconds(secs: float) -> str:
    """Return a time with its unit, with two digits below ten seconds and whole seconds above: `0.42 s`, `4.2 s`."""
    if abs(secs) >= 10:
        return f"{secs:,.0f} s"
    return f"{float(f'{secs:.2g}'):g} s"


def rate(rows: float) -> str:
    """Return rows a second, with three digits: `29,100 rows/s`."""
    return f"{float(f'{rows:.3g}'):,.{0 if abs(rows) >= 10 else 1}f} rows/s"
