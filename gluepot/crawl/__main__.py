"""Runs one crawl for the service: `python -m gluepot.crawl REQUEST`, in the folder that gets `result.json`.

REQUEST is a JSON file with `crawler`, as CreateCrawler takes it, `classifiers`, the `id` of the crawl, and whether it
`tells` changes of the catalog as events. The log goes to standard output.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.plural import counted
from gluepot.crawl.classify.custom import read_classifier
from gluepot.crawl.run import CrawlReport, crawl
from gluepot.crawl.settings import crawl_settings

RESULT = "result.json"
_FAILED = 1
# Those of the folders nearest to the target come last.
_MOST_STEPS = 1000
_COUNTED = {"created": {"created"}, "updated": {"updated", "deprecated"}, "deleted": {"deleted"}}


def main(arguments: Sequence[str], environ: Mapping[str, str], clock: Clock) -> int:
    """Crawl, and write down what came of it; return the exit code."""
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    log = _Log(request["id"])
    name, database = request["crawler"]["Name"], request["crawler"].get("DatabaseName", "")
    log.say("BENCHMARK", f"Running Start Crawl for Crawler {name}")
    try:
        classifiers = [read_classifier(one) for one in request["classifiers"]]
        for missing in sorted({*(request["crawler"].get("Classifiers") or ())} - {one.name for one in classifiers}):
            log.say("WARN", f"Classifier {missing} was deleted; the crawl goes on without it. Name another one.")
        settings = crawl_settings(request["crawler"], classifiers)
        catalog = open_catalog(catalog_url(environ), clock)
        try:
            chance = random.Random()  # noqa: S311  samples are no secrets
            report = crawl(settings, catalog, chance, request["id"], tells=bool(request.get("tells")))
        finally:
            catalog.close()
    except EtlError as error:
        log.say("ERROR", str(error))
        print(f"error: {error}", file=sys.stderr)
        return _FAILED
    log.say("BENCHMARK", f"Classification complete, writing results to database {database}")
    _tell(log, report, database)
    counts = {word: sum(one.outcome in outcomes for one in report.tables) for word, outcomes in _COUNTED.items()}
    result = {"summary": report.summary(database), "tables": counts}
    Path(RESULT).write_text(json.dumps(result), encoding="utf-8")
    reach("crawl.result_written")
    log.say("BENCHMARK", "Finished writing to Catalog")
    log.say("BENCHMARK", "Crawler has finished running and is in state READY")
    return 0


class _Log:
    """Says lines as crawlers of AWS do.

    Args:
        run_id: of the crawl.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def say(self, level: str, text: str) -> None:
        """Print a line."""
        print(f"[{self._run_id}] {level} : {text}", flush=True)


def _tell(log: _Log, report: CrawlReport, database: str) -> None:
    if report.messages:
        log.say("INFO", f"Received {counted(report.messages, 'message')}")
    for step in report.steps[-_MOST_STEPS:]:
        log.say("INFO", step.line())
    for one in (*report.failed_targets, *report.left_out):
        log.say("WARN", f"Left out {one.place}: {one.why}")
    for one in report.misunderstood:
        log.say("WARN", f"Not understood: {one.place}: {one.why}")
    if (more := report.misunderstood_messages - len(report.misunderstood)) > 0:
        log.say("WARN", f"Not understood: {counted(more, 'more message')}")
    for one in report.undeleted:
        log.say("WARN", f"The messages of {one.place} were not deleted: {one.why}")
    for action in report.tables:
        verb = action.outcome.capitalize()
        log.say("INFO", f"{verb} table {action.table} in database {database}{f': {action.why}' if action.why else ''}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, SystemClock()))
