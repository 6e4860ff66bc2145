"""Runs one evaluation or recommendation for the service: `python -m gluepot.job.quality REQUEST`.

REQUEST is a JSON file with the `id` of the run, the `request` that started it, in the form of the API, and, for an
evaluation, the texts of its `rulesets` by name. The working folder gets `result.json`: what came of each ruleset, or
the ruleset that is recommended.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import ConfigError, EtlError, TransientError
from gluepot.core.failpoints import reach
from gluepot.evaluation.check import Publication
from gluepot.evaluation.examiner import Options
from gluepot.evaluation.history.rulesets import StoredRuleset, shared_rulesets
from gluepot.job.quality.evaluating import evaluated, own_history, proposed, start_spark
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.results import CatalogTable, Result, Source

RESULT = "result.json"
_FAILED = 1
_JOB = "data quality run"
"""Stands for the name of a job in the history."""
_CORES_A_WORKER = 4


def main(arguments: Sequence[str], clock: Clock) -> int:
    """Evaluate or recommend, and write down what came of it; return the exit code."""
    told = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    request = told["request"]
    try:
        glue_context = start_spark(min(os.cpu_count() or 1, _CORES_A_WORKER * request.get("NumberOfWorkers", 1)))
        found: dict[str, Any]
        if "rulesets" in told:
            found = {"results": [_plain(one) for one in _evaluate(glue_context, told, clock)]}
        else:
            found = {"ruleset": _recommend(glue_context, told, clock)}
    except EtlError as error:
        print(f"error: {error}", file=sys.stderr)
        return _FAILED
    Path(RESULT).write_text(json.dumps(found), encoding="utf-8")
    reach("quality_run.result_written")
    return 0


def _evaluate(glue_context: GlueContext, told: Mapping[str, Any], clock: Clock) -> list[Result]:
    request, run_id = told["request"], told["id"]
    options = request.get("AdditionalRunOptions", {})
    table = table_of(request["DataSource"])
    frame = frame_of(glue_context, request["DataSource"])
    others = {alias: frame_of(glue_context, one) for alias, one in request.get("AdditionalDataSources", {}).items()}
    results = []
    for name, text in told["rulesets"].items():
        print(f"Evaluating ruleset {name} on {table.database}.{table.name}", flush=True)
        publication = Publication(
            Source(_JOB, f"{table.database}.{table.name}/{name}"),
            "",
            results_prefix=options.get("ResultsS3Prefix", ""),
            history=own_history,
            ruleset=name,
            ruleset_run_id=run_id,
            table=table,
        )
        ways = Options(
            by_row=options.get("CompositeRuleEvaluationMethod") == "ROW",
            observes=options.get("ObservationScope", "ALL") == "ALL",
        )
        result = evaluated(frame, parse(text), others, publication, ways, run_id, clock)
        for one in result.outcomes:
            print(f"{'PASS' if one.passed else 'FAIL'}  {one.rule}  {one.reason}".rstrip(), flush=True)
        results.append(result)
    kept = {one.id for one in own_history().with_ids([one.id for one in results])}
    if missing := [one.ruleset for one in results if one.id not in kept]:
        raise TransientError(f"The results of {', '.join(missing)} could not be kept; start the run again.")
    return results


def _recommend(glue_context: GlueContext, told: Mapping[str, Any], clock: Clock) -> str:
    request, run_id = told["request"], told["id"]
    table = table_of(request["DataSource"])
    text = proposed(frame_of(glue_context, request["DataSource"]))
    print(text, flush=True)
    if name := request.get("CreatedRulesetName"):
        rulesets = shared_rulesets(ledger_url(os.environ), clock.epoch)
        made = StoredRuleset(name, text, table=table, recommendation_run_id=run_id)
        if not rulesets.add(made) and (found := rulesets.find(name)) and found.recommendation_run_id != run_id:
            raise ConfigError(f"There is a ruleset {name} already; choose another CreatedRulesetName.")
    return text


def frame_of(glue_context: GlueContext, source: Mapping[str, Any]) -> DynamicFrame:
    """Return the rows of a `DataSource` of the API: a table of the Data Catalog."""
    [given] = source.values()
    options = given.get("AdditionalOptions", {})
    return glue_context.create_dynamic_frame.from_catalog(
        database=given["DatabaseName"],
        table_name=given["TableName"],
        push_down_predicate=options.get("pushDownPredicate", ""),
        additional_options={"catalogPartitionPredicate": options.get("catalogPartitionPredicate", "")},
    )


def table_of(source: Mapping[str, Any]) -> CatalogTable:
    """Return the table of a `DataSource` of the API."""
    [given] = source.values()
    return CatalogTable(given["DatabaseName"], given["TableName"], given.get("CatalogId", ""))


def _plain(result: Result) -> dict[str, Any]:
    return {
        "id": result.id,
        "ruleset": result.ruleset,
        "score": result.score,
        "passed": result.passed,
        "failed": result.failed,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], SystemClock()))
