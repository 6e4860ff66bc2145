"""Batches that append to tables of a lake, fail, and are tried again by the same or by another driver.

Writes a line of JSON for each case: the table, the rows that it should have, and what the driver did.
"""

import json
import os
import random
import sys
from pathlib import Path

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.run_writer import WRITERS
from gluepot.commit import Journal, QueryWrites
from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.values import CommitKey
from gluepot.core import failpoints
from gluepot.core.clock import SystemClock
from gluepot.core.errors import LeaseHeld, PermanentError
from gluepot.core.storage import open_storage
from gluepot.engine.writer import Given, KnownTargets, TableWriter, Writing

FORMAT, FOLDER, JARS, SEED, STORIES, WHICH = sys.argv[1:]
ROOT = Path(FOLDER)
IS_ICEBERG = FORMAT == "iceberg"
conf = SparkConf().setMaster("local[1]").set("spark.jars", JARS).set("spark.ui.enabled", "false")
conf = conf.set("spark.sql.shuffle.partitions", "1").set("spark.driver.host", "127.0.0.1")
# Tables of a few rows: to compile a query takes longer than to run it.
conf = conf.set("spark.sql.codegen.wholeStage", "false").set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": f"file://{ROOT}/lake",
    "spark.sql.catalog.alias": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.alias.type": "hadoop",
    "spark.sql.catalog.alias.warehouse": f"file://{ROOT}/lake",
}
DELTA = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
conf = conf.setAll(list((ICEBERG if IS_ICEBERG else DELTA).items()))
spark = GlueContext(SparkContext(conf=conf)).spark_session


class Driver:
    """A driver of a query: calls functions with a writer of the batch."""

    def __init__(self, query, token):
        self.query, self.token = query, token
        journal = Journal(open_storage(f"file://{ROOT}/checkpoints/{query}"), token)
        self.targets = KnownTargets(QueryWrites(query, token, journal))

    def run(self, function, batch=0, *, settles=True):
        """Call the function once, as one attempt of the batch."""
        writer = TableWriter(Writing(self.query, batch, self.token), self.targets, given=Given(digest=f"input {batch}"))
        writer.begin_attempt()
        function(writer)
        if settles:
            writer.settle()


def frame(numbers):
    return spark.createDataFrame([(one,) for one in numbers], "n bigint")


def name_of(table):
    return f"lake.db.{table}" if IS_ICEBERG else f"{ROOT}/lake/{table}"


def lake_table(table, spelled=""):
    name = spelled or name_of(table)
    return IcebergTable(name) if IS_ICEBERG else DeltaTable(name)


def sql_name(table):
    return name_of(table) if IS_ICEBERG else f"delta.`{name_of(table)}`"


def writes(table, *lists, fails=False):
    """A function that appends frames of these numbers, one after another, under one ctx."""

    def function(writer):
        for one in lists:
            writer.append(frame(one), lake_table(table), {}, "sink")
        if fails:
            raise OSError("the function fails")

    return function


def attempts(table, *functions, tokens=(1, 1), batch=0):
    """Try a batch with one function after another; all but the last do not come to their end."""
    driver = Driver(table, tokens[0])
    for nth, (token, function) in enumerate(zip(tokens, functions, strict=True)):
        driver = driver if token == driver.token else Driver(table, token)
        driver.run(function, batch, settles=nth == len(functions) - 1)


def created(table):
    # Iceberg's tables are made by the script.
    if IS_ICEBERG:
        spark.sql(f"CREATE TABLE {name_of(table)} (n bigint) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    return table


def replayed_in_another_order(table):
    attempts(table, writes(table, [1, 3]), writes(table, [2, 4], [1, 3]))
    return [1, 2, 3, 4]


def both_published_and_replayed_in_another_order_by_another_driver(table):
    attempts(table, writes(table, [1, 3], [2, 4]), writes(table, [2, 4], [1, 3]), tokens=(1, 2))
    return [1, 2, 3, 4]


def equal_frames_twice(table):
    attempts(table, writes(table, [1, 1], [1, 1]), writes(table, [1, 1], [1, 1]))
    return [1, 1, 1, 1]


def other_rows_in_the_first_batch(table):
    attempts(table, writes(table, [1, 2]), writes(table, [1, 3]))
    return [1, 3]


def other_rows_in_a_later_batch(table):
    driver = Driver(table, 1)
    driver.run(writes(table, [0]), 0)
    spark.sql(f"INSERT INTO {sql_name(table)} VALUES (100)")
    driver.run(writes(table, [1, 2]), 1, settles=False)
    driver.run(writes(table, [1, 3]), 1)
    return [0, 1, 3, 100]


def drivers_that_stop_before_and_after_the_commit_that_replaces(table):
    Driver(table, 1).run(writes(table, [1, 2]), 1, settles=False)
    for token, point in ((2, "lake.committing"), (3, "lake.appended")):
        failpoints._reached.clear()
        os.environ["GLUEPOT_FAILPOINT"] = point
        try:
            Driver(table, token).run(writes(table, [token]), 1)
        except OSError:
            del os.environ["GLUEPOT_FAILPOINT"]
    Driver(table, 4).run(writes(table, [1, 4]), 1)
    return [1, 4]


def fewer_writes(table):
    attempts(table, writes(table, [1], [2]), writes(table, [1]))
    return [1]


def another_driver_takes_another_branch(table):
    attempts(table, writes(table, [1], [2]), writes(table), tokens=(1, 2))
    return []


def a_driver_that_was_replaced_changes_nothing(table):
    attempts(table, writes(table, [1]), writes(table, [1]), tokens=(1, 2))
    try:
        lake = lake_table(table)
        commit = LakeCommit(CommitKey(table, 0, "sink"), "", 1)
        lake.append(frame([7]), commit, {})
    except LeaseHeld:
        return [1]
    return ["the zombie wrote"]


def rows_that_are_there_are_left_out_by_the_function(table):
    def function(writer):
        there = spark.table(sql_name(table)) if IS_ICEBERG else spark.read.format("delta").load(name_of(table))
        new = frame([1, 2, 3]).join(there, "n", "left_anti")
        writer.append(new, lake_table(table), {}, "sink")

    spark.sql(f"INSERT INTO {sql_name(table)} VALUES (1)") if IS_ICEBERG else frame([1]).write.format("delta").save(
        name_of(table)
    )
    attempts(table, function, function)
    return [1, 2, 3]


def one_table_under_two_names_in_one_batch(table):
    other = f"alias.db.{table}" if IS_ICEBERG else f"file://{ROOT}/lake/{table}/"

    def function(writer):
        writer.append(frame([1]), lake_table(table), {}, "sink")
        writer.append(frame([2]), lake_table(table, other), {}, "sink")

    attempts(table, function, function)
    return [1, 2]


def compacted(table):
    spark.sql(f"INSERT INTO {sql_name(table)} VALUES (100)")
    if IS_ICEBERG:
        spark.sql(f"CALL lake.system.rewrite_data_files(table => 'db.{table}', options => map('rewrite-all', 'true'))")
    else:
        spark.sql(f"OPTIMIZE {sql_name(table)}")


def equal_rows_in_files_that_were_rewritten(table):
    driver = Driver(table, 1)
    driver.run(writes(table, [1, 2]), settles=False)
    compacted(table)
    driver.run(writes(table, [2, 1]))
    return [1, 2, 100]


def other_rows_where_files_were_rewritten(table):
    driver = Driver(table, 1)
    driver.run(writes(table, [0]))
    driver.run(writes(table, [1, 2]), 1, settles=False)
    compacted(table)
    try:
        driver.run(writes(table, [1, 3]), 1)
    except PermanentError as told:
        return [0, 1, 2, 100] if "their files were rewritten or removed since" in str(told) else [str(told)]
    return ["no error"]


def other_rows_where_a_row_was_deleted(table):
    way = "'write.delete.mode' = 'merge-on-read'" if IS_ICEBERG else "'delta.enableDeletionVectors' = 'true'"
    driver = Driver(table, 1)
    driver.run(writes(table, [0]))
    spark.sql(f"ALTER TABLE {sql_name(table)} SET TBLPROPERTIES ({way})")
    driver.run(writes(table, [1, 2]), 1, settles=False)
    spark.sql(f"DELETE FROM {sql_name(table)} WHERE n = 1")
    try:
        driver.run(writes(table, [1, 3]), 1)
    except PermanentError as told:
        return [0, 2] if "deleted or updated" in str(told) else [str(told)]
    return ["no error"]


def commits_of_an_older_version(table):
    properties = {"gluepot.query-id": table, "gluepot.batch-id": "1", "gluepot.ctx": "sink", "gluepot.input": ""}
    if IS_ICEBERG:
        marks = {f"snapshot-property.{key}": value for key, value in properties.items()}
        frame([1, 2]).writeTo(name_of(table)).options(**marks).append()
    else:
        marks = {
            "txnAppId": f"gluepot/{table}/sink",
            "txnVersion": "1",
            "userMetadata": json.dumps(properties),
        }
        frame([1, 2]).write.format("delta").options(**marks).save(name_of(table))
    Driver(table, 1).run(writes(table, [2, 1]), 1)
    Driver(table, 2).run(writes(table, [2, 3]), 1)
    return [2, 3]


def a_table_that_was_restored(table):
    driver = Driver(table, 1)
    driver.run(writes(table, [0]))
    before = (
        spark.sql(f"SELECT snapshot_id FROM {name_of(table)}.snapshots").first()[0]
        if IS_ICEBERG
        else spark.sql(f"DESCRIBE HISTORY {sql_name(table)}").first()["version"]
    )
    driver.run(writes(table, [1]), 1)
    if IS_ICEBERG:
        spark.sql(f"CALL lake.system.rollback_to_snapshot('db.{table}', {before})")
    else:
        spark.sql(f"RESTORE TABLE {sql_name(table)} TO VERSION AS OF {before}")
    Driver(table, 2).run(writes(table, [1]), 1)
    return [0, 1]


def a_run_with_bookmarks(table):
    """Two attempts of a run, which read more before their second append; then the next run."""
    environ = {"GLUEPOT_STATE": str(ROOT / "state")}

    def attempt(number, first, second, *, commits=True):
        run = jobrun.begin(table, f"jr_{number}", None, "enable", (), environ, SystemClock())
        run.bookmarks.planned("first", "files", None)
        WRITERS.current().append(frame(first), lake_table(table), {}, "sink")
        run.bookmarks.planned("second", f"files {number}", None)
        WRITERS.current().append(frame(second), lake_table(table), {}, "sink")
        jobrun.commit() if commits else jobrun.end("the script fails")

    attempt(1, [1], [2], commits=False)
    attempt(2, [3], [1])
    attempt(3, [1], [4])
    return [1, 1, 3, 4]


CASES = [
    a_run_with_bookmarks,
    replayed_in_another_order,
    both_published_and_replayed_in_another_order_by_another_driver,
    equal_frames_twice,
    other_rows_in_the_first_batch,
    other_rows_in_a_later_batch,
    drivers_that_stop_before_and_after_the_commit_that_replaces,
    fewer_writes,
    another_driver_takes_another_branch,
    a_driver_that_was_replaced_changes_nothing,
    rows_that_are_there_are_left_out_by_the_function,
    one_table_under_two_names_in_one_batch,
    equal_rows_in_files_that_were_rewritten,
    other_rows_where_files_were_rewritten,
    other_rows_where_a_row_was_deleted,
    commits_of_an_older_version,
    a_table_that_was_restored,
]
CORE = [replayed_in_another_order, drivers_that_stop_before_and_after_the_commit_that_replaces]
"""The cases that run each time; the others run before a release."""
POINTS = ["lake.appending", "lake.committing", "lake.appended", "lake.taking_back", "settle.taking_back"]


def story(table, chance):
    """Some batches, whose attempts stop anywhere and write what they like; the last attempt of each is what counts."""
    wanted, token = [], 1
    driver = Driver(table, token)
    for batch in range(2):
        for _ in range(chance.randrange(1, 4)):
            lists = [
                [10 * batch + one] * chance.choice([1, 1, 2]) for one in chance.sample(range(3), chance.randrange(3))
            ]
            failpoints._reached.clear()
            os.environ["GLUEPOT_FAILPOINT"] = f"{chance.choice(POINTS)}@{chance.randrange(1, 3)}"
            try:
                driver.run(writes(table, *lists, fails=chance.random() < 0.3), batch)
            except OSError:
                is_done = False
            else:
                is_done = True
            del os.environ["GLUEPOT_FAILPOINT"]
            if is_done:
                break
            if chance.random() < 0.5:
                token += 1
                driver = Driver(table, token)
        if not is_done:
            lists = [[10 * batch + one] for one in chance.sample(range(3), chance.randrange(4))]
            driver.run(writes(table, *lists), batch)
        wanted += [number for one in lists for number in one]
    return wanted


os.environ["GLUEPOT_FAILPOINT_ACTION"] = "raise"
chosen = [(case.__name__, case) for case in (CASES if WHICH == "all" else CORE)]
for number in range(int(STORIES)):
    seed = f"{SEED} {number}"
    chosen.append((f"story_{number}", lambda table, seed=seed: story(table, random.Random(seed))))
if IS_ICEBERG:
    spark.sql("CREATE DATABASE lake.db")
with (ROOT / "out").open("w") as out:
    for name, case in chosen:
        wanted = case(created(name))
        told = {"name": name, "wanted": sorted(wanted)}
        if not IS_ICEBERG and case is other_rows_where_a_row_was_deleted:  # delta-rs does not read deletion vectors
            told["seen"] = sorted(row["n"] for row in spark.read.format("delta").load(name_of(name)).collect())
        print(json.dumps(told), file=out, flush=True)
