"""One check of a frame by a ruleset: evaluated once, at the latest at the end of the batch or run, and kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING, Any

from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage
from gluepot.engine.measuring import Waiting
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.writer import TableWriter
from gluepot.evaluation.examiner import Examiner, Options, Subject
from gluepot.evaluation.origins import origins_of
from gluepot.quality import anomalies
from gluepot.quality.distributions import ValueCounts, column_of_distribution
from gluepot.quality.dqdl.conditions import calls_of
from gluepot.quality.dqdl.rule_types import Kind
from gluepot.quality.dqdl.ruleset import Ruleset
from gluepot.quality.measures import Measured
from gluepot.quality.numbers import Moment, RuleError
from gluepot.quality.observations import Observation, observed
from gluepot.quality.outcomes import Evaluation, RuleOutcome
from gluepot.quality.results import CatalogTable, Checked, Result, RowSummary, Source

if TYPE_CHECKING:
    from gluepot.evaluation.history.store import History

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Publication:
    """What becomes of a result.

    Args:
        source: whose history the check belongs to.
        run_id: of the job's run.
        results_prefix: folder or S3 prefix of the result files; empty for none.
        history: opens the history; None if results are not kept.
        on_checked: called with each result.
        in_cloudwatch: whether the script asked for Glue's metrics in CloudWatch.
        ruleset: name of the ruleset; empty if it has none, as in jobs.
        ruleset_run_id: id of the evaluation run that the API started; empty in jobs.
        table: the table of the Data Catalog that is evaluated; None in jobs.
    """

    source: Source
    run_id: str
    results_prefix: str = ""
    history: Callable[[], History] | None = None
    on_checked: Callable[[Checked], None] | None = None
    in_cloudwatch: bool = False
    ruleset: str = ""
    ruleset_run_id: str = ""
    table: CatalogTable | None = None


class Check:
    """A check that waits for a write of its rows, or until somebody asks for its outcomes.

    Args:
        subject: what is checked.
        ruleset: the rules.
        options: how they are evaluated.
        publication: what becomes of the result.
        writer: the writes of the batch or run.
        clock: tells the time of the evaluation.

    Raises:
        InvalidWhereError: Spark does not understand a `where` of the ruleset.
    """

    def __init__(
        self,
        subject: Subject,
        ruleset: Ruleset,
        options: Options,
        publication: Publication,
        writer: TableWriter,
        clock: Clock,
    ) -> None:
        self.options = options
        self._publication = publication
        self._clock = clock
        self._started_secs = clock.epoch()
        self._name = writer.next_name(publication.source.context)
        self._examiner = Examiner(
            subject,
            ruleset,
            options,
            Moment(self._started_secs),
            self._earlier(ruleset),
            self._distributions(ruleset),
        )
        self._examiner.check_where()
        self._writer = writer
        self._waiting: Waiting | None = None
        self._evaluation: Evaluation | None = None
        self._summary: RowSummary | None = None
        self._pipeline = subject.pipeline
        self._is_published = False
        self._lock = RLock()
        if self._examiner.measures_alone:
            measures = self._examiner.examination.measures()
            self._waiting = writer.measures.add(
                subject.pipeline, measures, self._measured, repeats=not depends_on_time(ruleset)
            )
        writer.at_end(self._finish)

    def evaluation(self) -> Evaluation:
        """Return the outcomes; the first call evaluates, unless a write has done that."""
        with self._lock:
            if self._evaluation is None:
                self._done(self._examiner.evaluation())
            assert self._evaluation is not None
            return self._evaluation

    def row_outcomes(self) -> Pipeline:
        """Return the rows with the columns that tell which rules they pass."""
        return self._examiner.row_outcomes()

    def summary(self) -> RowSummary:
        """Return how the rows fared; the first call reads them."""
        with self._lock:
            if self._summary is None:
                self._summary = self._examiner.summary()
                self._publish()
            return self._summary

    def _finish(self) -> None:
        self.evaluation()
        if self.options.with_summary:
            try:
                self.summary()
            except (RuleError, EtlError) as error:
                log.warning("rows_not_counted", context=self._publication.source.context, reason=str(error))
                self._publish()

    def _measured(self, measured: Measured) -> None:
        with self._lock:
            if self._evaluation is None:
                self._done(self._examiner.judge(measured))

    def _done(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        if self._waiting is not None:
            self._writer.measures.drop(self._waiting)
        if not self.options.with_summary or self._summary is not None:
            self._publish()

    def _publish(self) -> None:
        """Hand the result to all who want it, once."""
        evaluation, publication = self._evaluation, self._publication
        if evaluation is None or self._is_published or self._writer.is_rehearsal:
            return
        self._is_published = True
        result = Result(
            publication.source,
            self._name,
            publication.run_id,
            round(self._started_secs * 1000),
            round(self._clock.epoch() * 1000),
            evaluation.outcomes,
            evaluation.analyzers,
            evaluation.history,
            evaluation.rows,
            self._summary,
            publication.ruleset,
            publication.ruleset_run_id,
            publication.table,
            distributions=evaluation.distributions,
            observations=self._observations(evaluation),
        )
        log.info(
            "data_quality_evaluated",
            context=result.source.context,
            passed=result.passed,
            failed=result.failed,
            failed_rules=[one.rule for one in result.outcomes if not one.passed][:10],
            observations=len(result.observations),
        )
        checked = Checked(result, origins_of(self._pipeline), publication.in_cloudwatch)
        self._writer.totals.add_check(checked)
        if publication.on_checked is not None:
            publication.on_checked(checked)
        # What was found about the data is worth less than the data: a job does not fail because of these.
        try:
            if publication.history is not None:
                reach("quality.judged")
                publication.history().save(result)
                reach("quality.saved")
            if publication.results_prefix:
                write_result(publication.results_prefix, result)
        except EtlError as error:
            log.warning("data_quality_result_not_kept", context=result.source.context, error=str(error))

    def _earlier(self, ruleset: Ruleset) -> Mapping[str, Sequence[float]]:
        most = most_earlier(ruleset)
        if not most or self._publication.history is None:
            return {}
        return self._publication.history().earlier(self._publication.source, self._name, most)

    def _observations(self, evaluation: Evaluation) -> Sequence[Observation]:
        if not self.options.observes or self._publication.history is None:
            return ()
        source = self._publication.source
        try:
            earlier = self._publication.history().earlier(source, self._name, anomalies.MOST)
        except EtlError as error:
            log.warning("data_quality_observations_missing", context=source.context, error=str(error))
            return ()
        return observed(evaluation, earlier)

    def _distributions(self, ruleset: Ruleset) -> Mapping[str, ValueCounts]:
        """Return by column the newest earlier distribution, whose bins this evaluation keeps."""
        is_wanted = any(rule.type_name == "Distribution" for rule in ruleset.analyzers)
        if not is_wanted or self._publication.history is None:
            return {}
        source = self._publication.source
        found = self._publication.history().distributions(source, self._name, anomalies.MOST)
        return {column_of_distribution(name): one for name, one in found.items()}


def most_earlier(ruleset: Ruleset) -> int:
    """Return how many earlier values of a metric the rules use at most."""
    rules = list(ruleset.all_rules())
    operands = [one for rule in rules if rule.condition is not None for one in rule.condition.operands]
    operands += [one for rule in rules for tag in rule.tags for one in tag.operands]
    calls = [call for one in operands for call in calls_of(one)]
    wanted = [int(str(call.arguments[0])) if call.arguments else 1 for call in calls if call.name == "last"]
    if any(rule.type_name == "DetectAnomalies" for rule in ruleset.all_rules()):
        wanted.append(anomalies.MOST)
    return max(wanted, default=0)


def depends_on_time(ruleset: Ruleset) -> bool:
    """Return whether what has to be measured depends on the time of the evaluation."""
    kinds = {rule.condition.kind for rule in ruleset.all_rules() if rule.condition is not None}
    return bool(kinds & {Kind.DATE, Kind.DURATION})


def plain_outcome(one: RuleOutcome) -> dict[str, Any]:
    """Return an outcome as Glue's files and frames have it."""
    return {
        "Rule": one.rule,
        "Outcome": one.outcome,
        "FailureReason": one.reason or None,
        "EvaluatedMetrics": dict(one.metrics),
        "EvaluatedRule": one.evaluated,
    }


def write_result(prefix: str, result: Result) -> None:
    """Write the outcomes as JSON lines, in a folder for the day; the replay of a batch writes the same file again.

    Args:
        prefix: a folder or an S3 prefix.
        result: the outcomes.
    """
    day = datetime.fromtimestamp(result.started_ms / 1000, UTC)
    name = result.evaluation.replace("/", "_").replace(" ", "_")
    lines = "".join(json.dumps(plain_outcome(one)) + "\n" for one in result.outcomes)
    open_storage(prefix).put(f"{day:%Y/%m/%d}/{name}.json", lines.encode())
