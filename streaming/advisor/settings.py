"""The advisor's settings: goals, bounds, and facts that it cannot observe."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

RELAXED_WINDOWS = 4
RELAXED_USE = 0.97
# Leaves room for noise of 10 %, which batches usually have, inside the window.
TIGHT_USE = 0.85


class AdvisorSettings(BaseModel):
    """Goals and bounds of the advice for one query."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_workers: int = Field(default=1, ge=1, description="Never advise fewer.")
    max_workers: int = Field(default=1000, ge=1, description="Never advise more.")
    slots_per_worker: int = Field(default=1, ge=1, description="Tasks that one worker runs at a time.")
    target_use: float | None = Field(
        default=None, gt=0, le=1, description="Share of the window that a batch should take; None: as the SLA allows."
    )
    sla_secs: float | None = Field(default=None, gt=0, description="Age that no record should reach; None for no goal.")
    catch_up_secs: float = Field(default=240.0, gt=0, description="Time in which a backlog should be gone.")
    worker_start_secs: float = Field(default=90.0, ge=0, description="Time from asking for a worker to having it.")
    hold_secs: float = Field(default=240.0, ge=0, description="Load must have been lower for so long to give back.")
    cool_down_secs: float = Field(default=60.0, ge=0, description="Between two changes that are made.")
    dead_band: float = Field(default=0.1, ge=0, lt=1, description="Excess over the target that changes nothing.")
    warm_up_batches: int = Field(default=2, ge=0, description="Batches after a start or a change that do not count.")
    batch_limit_rows: int | None = Field(default=None, ge=1, description="maxOffsetsPerTrigger as it is; None: none.")
    repartitions: bool = Field(default=False, description="The batch function spreads its rows over more tasks.")
    target_file_bytes: int = Field(default=128 * 1024**2, ge=1, description="Size that files of the table should have.")

    @model_validator(mode="after")
    def _bounds(self) -> AdvisorSettings:
        if self.min_workers > self.max_workers:
            raise ValueError(f"min_workers {self.min_workers} is above max_workers {self.max_workers}")
        return self

    def use_of(self, window_secs: float) -> float:
        """Return the share of a window that a batch should take.

        A record waits for up to one window and then for its batch. If the SLA is four windows or more, it does no harm
        that a batch sometimes takes longer than its window, so workers can be used more fully.
        """
        if self.target_use is not None:
            return self.target_use
        relaxed = self.sla_secs is not None and self.sla_secs >= RELAXED_WINDOWS * window_secs
        return RELAXED_USE if relaxed else TIGHT_USE
