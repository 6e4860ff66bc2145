"""A Glue streaming job that does something else in every attempt of a batch: other targets, another order, other threads.

Nothing of it depends on a seed: an attempt that could tell what the one before it did would be none of these.
"""
# ruff: noqa: I001, N816  written as users of Glue write them

from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from itertools import count
import json
from multiprocessing.pool import ThreadPool
import os
from pathlib import Path
import random
import re
import sys
import threading
import time

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import RenameField
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

names = ["JOB_NAME", "TempDir", "connection_type", "connection_options", "output_path"]
args = getResolvedOptions(sys.argv, names)
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

stream = glueContext.create_data_frame.from_options(
    connection_type=args["connection_type"],
    connection_options=json.loads(args["connection_options"]),
)

chance = random.SystemRandom()
output = args["output_path"]
database = next((kind for kind in ("postgresql", "mysql") if output.startswith((f"{kind}:", f"jdbc:{kind}:"))), "")


def named(name):
    """A folder below the output, or a table's name in a database."""
    return re.sub(r"\W", "_", name) if database else name


def write(frame, name, ctx, keys=()):
    if database:
        target = {
            "connection_type": database,
            "connection_options": {"url": output, "dbtable": name},
        }
    else:
        target = {
            "connection_type": "s3",
            "connection_options": {"path": f"{output}/{name}", "partitionKeys": list(keys)},
            "format": "glueparquet",
        }
    glueContext.write_dynamic_frame.from_options(frame=frame, transformation_ctx=ctx, **target)


def one_by_one(writes, ended):
    for one in writes:
        one()
        ended()


def in_an_executor(writes, ended):
    with ThreadPoolExecutor(chance.randint(1, len(writes))) as pool:
        for done in as_completed([pool.submit(one) for one in writes]):
            done.result()
            ended()


def in_a_pool(writes, ended):
    pool = ThreadPool(chance.randint(1, len(writes)))
    try:
        for _ in pool.imap_unordered(lambda one: one(), writes):
            ended()
    finally:
        pool.close()
        pool.join()


def in_threads(writes, ended):
    threads = [threading.Thread(target=one) for one in writes]
    for thread in threads:
        thread.start()
    # One is not waited for: the batch does that.
    for thread in threads[1:]:
        thread.join()
        ended()


WAYS = [one_by_one, in_an_executor, in_a_pool, in_threads]


def note(batch_id, tables, fails):
    """Leave a line on the disk that says what this attempt is about to do."""
    with Path(args["TempDir"], "attempts").open("a") as notes:
        notes.write(json.dumps({"batch_id": batch_id, "tables": tables, "fails": fails}) + "\n")
        notes.flush()
        os.fsync(notes.fileno())


def fail_if_told(folder):
    """Fail once, as a batch function with a passing trouble does, when somebody put a file there."""
    try:
        Path(folder, "fail").unlink()
    except FileNotFoundError:
        return
    raise RuntimeError("told to fail")


def process(data_frame, batch_id):
    clicks = RenameField.apply(DynamicFrame.fromDF(data_frame, glueContext, "clicks"), "id", "event_id")
    rows = DynamicFrame.fromDF(data_frame, glueContext, "rows").toDF().withColumnRenamed("id", "event_id")
    bought = rows.where("kind = 'buy'")
    # A table of a database is told by its input alone what it holds, so there a table gets all of them or none.
    halves = [bought] if database or chance.random() < 0.5 else [bought.where(f"event_id % 2 = {n}") for n in (0, 1)]
    branches = [(half, named(chance.choice(["branch/odd", "branch/even"]))) for half in halves]
    timed = named(f"timed/at={int(time.time()) // 2}")
    writes = [partial(write, clicks, "copied", "copied", ["kind"]), partial(write, clicks, timed, "timed", ["kind"])]
    writes += [
        partial(write, DynamicFrame.fromDF(half, glueContext, "half"), name, "branch") for half, name in branches
    ]
    chance.shuffle(writes)
    fails = chance.randint(1, len(writes)) if chance.random() < 0.2 else None
    note(batch_id, [timed, *(name for _, name in branches)], fails)
    done = count(1)

    def ended():
        if next(done) == fails:
            raise RuntimeError(f"trouble after {fails} of {len(writes)} writes")

    chance.choice(WAYS)(writes, ended)
    fail_if_told(args["TempDir"])


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={
        "windowSize": "0 seconds",
        "checkpointLocation": args["TempDir"] + "/checkpoint",
        "batchMaxRetries": "20",
    },
)
job.commit()
