"""Runs as a plant with known numbers would give them."""

import random

import numpy as np

from gluepot.bench.conclude import fits, scaling, settings_for
from gluepot.bench.hold import Held
from gluepot.bench.job import measured
from gluepot.bench.measured import models
from gluepot.bench.plan import BATCHES, WARM_UP_BATCHES, Bounds, remaining
from gluepot.bench.report import Report
from gluepot.streaming.advisor.glue_cost import worker_type
from gluepot.streaming.advisor.history import Observation

START_SECS = 9.0
LIMITS = Bounds(cores=2, largest_secs=3.0, room_rows=20_000_000)


def run_on(plant, run, seed=1):
    """What `measure` would return; `plant(rows, cores)` is the time of a batch, give or take 5 %."""
    chance = random.Random(f"{seed} {run}")
    secs = []
    for at in range(WARM_UP_BATCHES + BATCHES):
        slow = 3.0 if at < WARM_UP_BATCHES else 1.0
        secs.append(slow * plant(run.limit_rows, run.cores) * chance.lognormvariate(0, 0.05))
    batches = [Observation(float(at), one, 5.0, run.limit_rows, 1, 1) for at, one in enumerate(secs)]
    return measured(run, batches, sum(secs) + START_SECS)


def all_runs(plant, limits):
    done = []
    while plan := remaining(done, limits):
        done.append(run_on(plant, plan[0].run))
    return done


def linear(fixed_secs, core_rate, efficiency=1.0):
    """`T = F + b / (n * mu)`, a core beside others at a share of its rate."""
    return lambda rows, cores: fixed_secs + rows / (cores * core_rate * (efficiency if cores > 1 else 1.0))


def chance():
    return np.random.default_rng(1)


def report(done, goal):
    """The report on runs, with a steady run that went well."""
    known = models(done)
    settings = settings_for(goal, done, chance())
    steady = Held(20_000, 300.0, 60, 3.5, 6.5, 7.0, 21_000, 20_000, 5.0, goal.sla_secs)
    return Report(
        "job.py", goal, fits(done), known, scaling(known), settings, steady, worker_type("G.1X"), 0.05, 1, 200.0
    )
