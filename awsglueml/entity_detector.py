"""`EntityDetector`: finds sensitive data in the texts of a frame, and hides it (docs/glue 13.6)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from awsglue.dynamicframe import DynamicFrame
from gluepot.core.errors import ConfigError
from gluepot.engine import execute
from gluepot.entities import parameters
from gluepot.entities.entity_types import ENTITY_TYPES
from gluepot.entities.steps import CountEntities, DetectEntities, classified
from gluepot.entities.validators import validator
from gluepot.frames.transforms.paths import ITEMS, Path
from gluepot.frames.transforms.walk import paths_of

Parameters = Mapping[str, Sequence[Mapping[str, Any]]]


class EntityDetector:
    """Finds sensitive data; the types are listed in docs/sensitive-data.md."""

    def detect(
        self,
        frame: DynamicFrame,
        entity_types: Sequence[str] | Parameters | None = None,
        output_column_name: str = "DetectedEntities",
        detection_sensitivity: str = "LOW",
        *,
        detection_parameters: Parameters | None = None,
    ) -> DynamicFrame:
        """Return the frame with a column of what was found in each row, and with the values hidden as asked.

        The records are looked at in the tasks that read them, when an action needs them. Texts inside structs, arrays
        and maps are looked at, too; their column is named by its path, with dots.

        Args:
            frame: the records.
            entity_types: names of types, or detection parameters in their place.
            output_column_name: the new column: a map from the name of a column to a list of entityType, start, end and
                actionUsed. It is empty for a row in which nothing was found.
            detection_sensitivity: LOW or HIGH.
            detection_parameters: `{type: [{"action", "sourceColumns" | "sourceColumnsToExclude", "actionOptions"}]}`.

        Raises:
            ConfigError: a type cannot be found, a parameter is wrong, a column is not there, or the extra `pii` is not
                installed.
        """
        given = entity_types if detection_parameters is None else detection_parameters
        rules = parameters.rules(given)
        sensitivity = parameters.sensitivity(detection_sensitivity)
        if not output_column_name:
            raise ConfigError("output_column_name is empty; give the column of findings a name.")
        _load(rule.entity for rule in rules)
        known = frame.known_schema()
        if known is not None:
            parameters.check_columns(rules, [_dotted(path) for path, _ in paths_of(list(known))])
        return frame.with_step(DetectEntities(rules, sensitivity, output_column_name))

    def classify_columns(
        self,
        frame: DynamicFrame,
        entity_types: Sequence[str],
        sample_fraction: float = 0.1,
        threshold_fraction: float = 0.1,
        detection_sensitivity: str = "LOW",
    ) -> dict[str, list[str]]:
        """Return the types of each column that has some. Reads the records at once.

        Args:
            frame: the records.
            entity_types: names of types.
            sample_fraction: how many of the rows are looked at, at least 100 of each chunk that is read.
            threshold_fraction: a type counts if it is found in at least this fraction of the values that are not null.
            detection_sensitivity: LOW or HIGH.

        Raises:
            ConfigError: a type cannot be found, a parameter is out of range, or the extra `pii` is not installed.
        """
        step = CountEntities(
            parameters.entities(entity_types),
            parameters.sensitivity(detection_sensitivity),
            parameters.fraction("sample_fraction", sample_fraction),
        )
        threshold = parameters.fraction("threshold_fraction", threshold_fraction)
        _load(step.entities)
        counts = execute.take(frame.glue_ctx.spark_session, frame.pipeline.over_rows().then(step), sys.maxsize)
        return classified(counts, threshold)


def _load(names: Iterable[str]) -> None:
    """Load the validators here, so that a missing library is an error of the call and not of a task."""
    for name in names:
        validator(ENTITY_TYPES[name].validator)


def _dotted(path: Path) -> str:
    """Return the name of a field in the column of findings: elements of an array have the name of the array."""
    return ".".join(name for name in path if name != ITEMS)
