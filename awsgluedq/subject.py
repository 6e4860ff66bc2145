"""What a check examines: a frame, and the other frames that rules name."""

from __future__ import annotations

from collections.abc import Mapping

from awsglue.dynamicframe import DynamicFrame
from gluepot.evaluation.examiner import Subject


def subject_of(frame: DynamicFrame, sources: Mapping[str, DynamicFrame]) -> Subject:
    """Return a frame as the subject of a check.

    Args:
        frame: what is checked.
        sources: other frames by the alias that rules use.
    """
    return Subject(
        frame.glue_ctx.spark_session,
        frame.pipeline,
        frame.toDF,
        frame.known_schema(),
        {alias: other.toDF for alias, other in sources.items()},
    )
