"""Keeps libraries from handling signals that are ours to handle."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any


def without(kept: signal.Signals) -> Any:
    """Return what a library may use in place of the module `signal`: it sets no handler of one signal.

    Args:
        kept: the signal whose handler stays as it is.
    """

    def handle(number: int, handler: Any) -> Any:
        return signal.getsignal(number) if number == kept else signal.signal(number, handler)

    return SimpleNamespace(**{**vars(signal), "signal": handle})
