"""Imports structlog as if rich were not installed.

structlog loads rich to draw tracebacks. We want plain ones, because rich ones show local variables and with them
passwords, and because loading rich takes 0.15 s in each of the five processes of a starting stream.
"""

import sys

_RICH = "rich"
_hide = _RICH not in sys.modules

if _hide:
    # With None here, Python raises ImportError for the module.
    sys.modules[_RICH] = None  # type: ignore[assignment]
try:
    import structlog
finally:
    if _hide:
        del sys.modules[_RICH]

__all__ = ["structlog"]
