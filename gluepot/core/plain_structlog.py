"""Imports structlog as if rich were not installed.

structlog loads rich to draw tracebacks. We let it print plain ones, since the drawn ones show local variables and so
passwords, and rich takes each of the five processes of a starting stream 0.15 s.
"""

import sys

_RICH = "rich"
_hide = _RICH not in sys.modules

if _hide:
    # Python's way to say that it cannot be imported.
    sys.modules[_RICH] = None  # type: ignore[assignment]
try:
    import structlog
finally:
    if _hide:
        del sys.modules[_RICH]

__all__ = ["structlog"]
