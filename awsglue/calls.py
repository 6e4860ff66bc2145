"""The arguments that all transforms have in common: `transformation_ctx`, `info`, thresholds (docs/glue 6.1)."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from gluepot.core.errors import PermanentError
from gluepot.engine.execute import ErrorCounts
from gluepot.frames.chunk import CallSite

NOWHERE = CallSite()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a transform.

    Args:
        ctx: the call's `transformation_ctx`; may be empty.
        callsite: the place in the script that makes the call.
        stage_threshold: number of errors allowed in this transform; 0 allows any number.
        total_threshold: number of errors allowed up to and including this transform; 0 allows any number.
    """

    ctx: str = ""
    callsite: CallSite = NOWHERE
    stage_threshold: int = 0
    total_threshold: int = 0

    @property
    def limits_errors(self) -> bool:
        """Whether there is a threshold."""
        return self.stage_threshold > 0 or self.total_threshold > 0

    def check(self, counts: ErrorCounts) -> None:
        """Compare the counted errors with the thresholds.

        Raises:
            PermanentError: there are more errors than allowed.
        """
        for name, count, most in (
            ("stageThreshold", counts.stage, self.stage_threshold),
            ("totalThreshold", counts.total, self.total_threshold),
        ):
            if 0 < most < count:
                of = f"'{self.ctx}'" if self.ctx else f"the transform at {self.callsite.site}"
                raise PermanentError(
                    f"{count} records failed in {of}, but {name} allows {most}; "
                    "inspect them with errorsAsDynamicFrame()."
                )


def called(transformation_ctx: str, info: str | None, stageThreshold: int, totalThreshold: int) -> Call:
    """Return the current call, with the innermost line of the stack that is not in `awsglue`."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "awsglue":
        frame = frame.f_back
    code = None if frame is None else frame.f_code
    site = "" if frame is None or code is None else f"{code.co_filename}:{frame.f_lineno} in {code.co_name}"
    return Call(transformation_ctx, CallSite(site, info or ""), int(stageThreshold), int(totalThreshold))
