"""A job's page without a job: a session that is told of batches made by hand, as its queries would tell of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from prometheus_client import CollectorRegistry

from gluepot.connectors.values import SourceRange, dump_errors
from gluepot.core.clock import Clock, SystemClock
from gluepot.engine.write_totals import WrittenFile
from gluepot.frames.chunk import Coordinates, ErrorRecord
from gluepot.frames.schema.changes import ColumnChange
from gluepot.ops.page.history import History
from gluepot.ops.page.log_tail import LogTail
from gluepot.ops.page.origins import RunOption, of_run
from gluepot.ops.page.view import Observed
from gluepot.ops.pages import Job
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.advisor import Advice, Limit, Measure, Recommendation
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.settings import StreamSettings

EVIL = b'{"id": 7, "name": "<script>alert(1)</script>\x1b[2J'
WINDOW_SECS = 5.0
COMPLETE = RuleOutcome('IsComplete "id"', True, "", {"Column.id.Completeness": 1.0}, 'IsComplete "id"')
UNMET = RuleOutcome(
    'ColumnValues "amount" > 0',
    False,
    "Value: -3.0 does not meet the constraint requirement!",
    {"Column.amount.Minimum": -3.0},
    'ColumnValues "amount" > 0',
)


@dataclass
class Scene:
    """A session, its page, and a way to let batches happen.

    Args:
        clock: of the session.
        folder: where rejected records are written.
    """

    folder: Path
    clock: Clock = field(default_factory=SystemClock)
    advice: dict[str, Advice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.streams = StreamSession(job="clickstream", clock=self.clock)
        self.page = Observed(
            name="clickstream",
            run_id="jr_7f3a91c2",
            streams=self.streams,
            history=History(),
            log=LogTail(),
            settings=of_run([RunOption("master", "local[4]", "local[*]")], {"master": "local[4]"}, {}),
            version={"gluepot": "1.2.3", "glue": "5.0", "spark": "4.1.0"},
            advice=self.advice.get,
        )
        self.streams.watchers.append(self.page.history.update)
        self.streams.check_watchers.append(self.page.checks.update)
        self.job = Job(
            registry=CollectorRegistry(),
            queries=self.streams.status.queries,
            stopping=self.streams.stop.is_set,
            version=self.page.version,
            config={},
            clock=self.clock,
            page=self.page,
        )

    def begin(self, query: str = "clicks") -> None:
        settings = StreamSettings(window_size_secs=WINDOW_SECS, checkpoint_location=f"s3://lake/checkpoints/{query}")
        self.streams.status.tell(
            query,
            window_secs=WINDOW_SECS,
            lease="held",
            source_reached=True,
            settings=asdict(settings),
        )

    def batch(self, batch_id: int, query: str = "clicks", **changes: object) -> BatchStats:
        """Let a batch be committed at this moment."""
        values: dict[str, object] = {
            "query": query,
            "batch_id": batch_id,
            "window_secs": WINDOW_SECS,
            "started_epoch": self.clock.epoch() - 2.0,
            "duration_secs": 2.0,
            "previous_started_epoch": self.clock.epoch() - 2.0 - WINDOW_SECS,
            "phase_secs": {"fetch": 0.4, "parse": 1.1, "transform": 0.3, "write": 0.9, "publish": 0.1},
            "rows_in": 10_000,
            "rows_out": 9_998,
            "bytes_in": 3_200_000,
            "bytes_out": 412_000,
            "files": 2,
            "lag_records": {"clicks-0": 120, "clicks-1": 40},
            "lag_secs": {"clicks-0": 1.4, "clicks-1": 0.6},
            "ranges": [
                SourceRange("kafka", "clicks", "id", str(n), batch_id * 5_000, (batch_id + 1) * 5_000) for n in (0, 1)
            ],
            "written": [
                WrittenFile("s3://lake/clicks", f"country={country}/run-{batch_id}-0.parquet", 206_000, 4_999)
                for country in ("DE", "PT")
            ],
        }
        stats = BatchStats(**{**values, **changes})  # type: ignore[arg-type]
        for watch in self.streams.watchers:
            watch(stats)
        self.streams.status.tell(
            query, batch_id=batch_id, batch_began_epoch=None, last_commit_epoch=stats.committed_epoch
        )
        return stats

    def rejects(self, batch_id: int, *payloads: bytes, query: str = "clicks") -> None:
        """Let a batch be committed that put records aside."""
        errors = [
            ErrorRecord(
                raw, "malformed_json", "Expected a comma or } at column 31.", Coordinates("clicks", "1", str(4_711 + n))
            )
            for n, raw in enumerate(payloads)
        ]
        name = f"_rejects/run-{batch_id}.rejects"
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_batches([dump_errors(errors)]), path)
        file = WrittenFile(str(self.folder), name, path.stat().st_size, len(payloads), rejects=True)
        self.batch(batch_id, query, rejected={"malformed_json": len(payloads)}, written=[file])

    def check(self, *outcomes: RuleOutcome, context: str = "before the write", rows: int = 9_998) -> None:
        """Let a check of data quality have its result at this moment."""
        now_ms = round(self.clock.epoch() * 1000)
        source = Source("clickstream", context)
        result = Result(source, f"q/1/{context}/1", "jr_7f3a91c2", now_ms - 50, now_ms, outcomes, rows=rows)
        self.streams.checked(Checked(result))


def column(name: str, after: str, before: str | None = None) -> ColumnChange:
    return ColumnChange(name, "added" if before is None else "type", after, before)


def advice(epoch: float) -> Advice:
    return Advice(
        epoch,
        workers=1,
        wanted_workers=1,
        limit=Limit.NOTHING,
        reason="A batch takes 2.1 s of a window of 5 s; one worker suffices up to 4,700 rows/s.",
        confidence=0.86,
        recommendations=[
            Recommendation(Measure.MERGE, "Files of 206 kB are small; a window of 60 s makes files of 2.5 MB.", 60, 5)
        ],
    )
