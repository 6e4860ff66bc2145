"""Runs and batches as OpenLineage events. Pure: values in, events out.

A run of a job is one run of OpenLineage, whose id follows from Gluepot's. Each of its queries is a run below it, which
ends with the job: START with its first batch, RUNNING with every batch, as OpenLineage has it for streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import attr
import pyarrow as pa
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
)

from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account
from gluepot.engine.write_totals import Output
from gluepot.frames.schema import merge_schemas
from gluepot.job.lineage.quality_facets import quality_facets
from gluepot.quality.results import Checked

PRODUCER = "https://github.com/gluepot/gluepot"
_IDS = UUID("5f0d8c4e-7f0a-5b3e-9c9e-6a1f6f7a2b10")  # ours, once and for all: ids of runs follow from it


@attr.define
class RecordsRunFacet(RunFacet):
    """The account of records, see `gluepot.engine.account`.

    Args:
        sources: records read, delivered, rejected and left out, by source.
        writes: rows arrived, written, refused and skipped.
    """

    sources: dict[str, dict[str, int]]
    writes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Names:
    """What a run is called.

    Args:
        namespace: of jobs.
        job: name of the job.
        run_id: Gluepot's, `jr_...`.
        query: of a stream; empty for the job itself.
    """

    namespace: str
    job: str
    run_id: str
    query: str = ""

    @property
    def name(self) -> str:
        """The job as OpenLineage knows it."""
        return f"{self.job}.{self.query}" if self.query else self.job

    @property
    def id(self) -> str:
        """The run as OpenLineage knows it: the same for the same run, whoever asks."""
        return str(uuid5(_IDS, f"{self.run_id}/{self.query}" if self.query else self.run_id))


@dataclass(frozen=True, slots=True)
class Versions:
    """Of what runs the job.

    Args:
        gluepot: ours.
        spark: the engine's.
    """

    gluepot: str
    spark: str


def event(
    state: RunState,
    names: Names,
    versions: Versions,
    at_epoch: float,
    inputs: Sequence[Dataset] = (),
    outputs: Sequence[Output] = (),
    error: str = "",
    checks: Sequence[Checked] = (),
    account: Account | None = None,
) -> RunEvent:
    """Return one event.

    Args:
        state: START, RUNNING, COMPLETE or FAIL.
        names: of the run.
        versions: of what runs it.
        at_epoch: when it happened, in seconds since 1970 UTC.
        inputs: what was read since the event before.
        outputs: what was written since.
        error: why it failed, one sentence.
        checks: what checks of data quality found since.
        account: of the records since; None if nothing was read or written.
    """
    run_facets: dict[str, RunFacet] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=versions.spark, name="spark", openlineageAdapterVersion=versions.gluepot
        )
    }
    if names.query:
        above = Names(names.namespace, names.job, names.run_id)
        run_facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(runId=above.id), job=parent_run.Job(namespace=above.namespace, name=above.name)
        )
    if account is not None:
        run_facets["gluepot_records"] = RecordsRunFacet(**replace(account, by_spark=(), unseen=0).to_plain())
    if error:
        run_facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(message=error, programmingLanguage="python")
    job_facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(
            processingType="STREAMING" if names.query else "BATCH",
            integration="GLUEPOT",
            jobType="QUERY" if names.query else "JOB",
        )
    }
    return RunEvent(
        eventType=state,
        eventTime=datetime.fromtimestamp(at_epoch, UTC).isoformat(),
        run=Run(runId=names.id, facets=run_facets),
        job=Job(namespace=names.namespace, name=names.name, facets=job_facets),
        inputs=[
            InputDataset(one.namespace, one.name, inputFacets=quality_facets(one, inputs, checks))
            for one in sorted(set(inputs))
        ],
        outputs=[_output(one) for one in _summed(outputs)],
        producer=PRODUCER,
    )


def _summed(outputs: Sequence[Output]) -> list[Output]:
    """Return one output a dataset: a function may write to a table several times."""
    found: dict[Dataset, Output] = {}
    for one in outputs:
        found[one.dataset] = found[one.dataset].with_more(one) if one.dataset in found else one
    return [found[dataset] for dataset in sorted(found)]


def _output(one: Output) -> OutputDataset:
    fields = [
        schema_dataset.SchemaDatasetFacetFields(name=column.name, type=str(column.type)) for column in _columns(one)
    ]
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=one.rows, size=one.size_bytes, fileCount=one.files
    )
    return OutputDataset(
        one.dataset.namespace,
        one.dataset.name,
        facets={"schema": schema_dataset.SchemaDatasetFacet(fields=fields)} if fields else {},
        outputFacets={"outputStatistics": statistics},
    )


def _columns(one: Output) -> pa.Schema:
    merged = pa.schema([])
    for schema in one.schemas:
        merged = merge_schemas(merged, pa.ipc.read_schema(pa.py_buffer(schema)))
    return merged
