"""Our drain with data quality rules: the check that Glue Studio puts before every target, and ten typical rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from awsglue import DynamicFrame
from awsgluedq.transforms import EvaluateDataQuality

RULESETS: Mapping[str, str] = {
    "default_check": "Rules = [ ColumnCount > 0 ]",
    "ten_rules": """
        Rules = [
            RowCount > 0,
            IsComplete "event_id",
            Completeness "page" > 0.99,
            ColumnValues "country" in ["DE", "FR", "US", "IN", "BR", "JP", "GB", "ES"],
            ColumnValues "duration_ms" between -1 and 30000,
            ColumnLength "session" = 50,
            ColumnValues "page" matches "^/[a-z/0-9]*$" with threshold > 0.9,
            Mean "duration_ms" between 10000 and 20000,
            StandardDeviation "duration_ms" < 20000,
            ColumnValues "user_id" < 1000000
        ]
    """,
}


def checked(ruleset: str, write: Callable[[DynamicFrame], None]) -> Callable[[DynamicFrame], None]:
    """Return what checks events and then writes them, as scripts of Glue Studio do."""

    def check_and_write(events: DynamicFrame) -> None:
        EvaluateDataQuality().process_rows(
            frame=events,
            ruleset=ruleset,
            publishing_options={
                "dataQualityEvaluationContext": "drain",
                "enableDataQualityCloudWatchMetrics": True,
                "enableDataQualityResultsPublishing": True,
            },
            additional_options={"dataQualityResultsPublishing.strategy": "BEST_EFFORT", "observations.scope": "ALL"},
        )
        write(events)

    return check_and_write
