"""Merges one batch after another into pairs of equal tables: into one as a script of ours does, into the other by Spark.

Writes a line of JSON for each case, with the rows of both tables and whether Spark's join was left out, and at the end a
line with what a round of the differential test finds.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from random import Random

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.errors import PySparkException

from awsglue.context import GlueContext
from gluepot.connectors.lake.merging import run
from tests.differential.merges.rounds import merges as merges_of

FORMAT, OUT, WAREHOUSE, JARS, SEED, WHICH = sys.argv[1:]
conf = SparkConf().setMaster("local[2]").set("spark.jars", JARS).set("spark.sql.session.timeZone", "Asia/Kolkata")
conf = conf.set("spark.sql.shuffle.partitions", "2").set("spark.ui.enabled", "false")
conf = conf.set("spark.driver.host", "127.0.0.1")
# Tables of a few rows: to compile a query takes longer than to run it.
conf = conf.set("spark.sql.codegen.wholeStage", "false").set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": WAREHOUSE,
}
DELTA = {
    "spark.databricks.delta.snapshotPartitions": "1",  # of tables with a few files
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.warehouse.dir": WAREHOUSE,
}
conf = conf.setAll(list((ICEBERG if FORMAT == "iceberg" else DELTA).items()))
glue_context = GlueContext(SparkContext(conf=conf))
spark = glue_context.spark_session

UPSERT = "MERGE INTO {t} t USING b s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
COLUMNS = "id bigint, name string, price double, at timestamp"
BASE = "SELECT id, concat('n', id) name, id / 4D price, timestamp '2026-01-01 00:00:00' + make_interval(0,0,0,id) at"
BASE += " FROM range(40)"
BATCH = "SELECT id * 3 id, concat('m', id) name, CAST(id AS double) price,"
BATCH += " timestamp '2026-01-01 12:00:00' + make_interval(0,0,0,id*3) at FROM range(20)"


def case(
    name,
    batch=BATCH,
    merge=UPSERT,
    columns=COLUMNS,
    base=BASE,
    table="",
    before=(),
    ours=True,
    only="",
    meanwhile="",
    is_sized=True,
):
    """A pair of tables, and a statement.

    `meanwhile` is what another writer does after our files are written and before they are committed. With `is_sized`
    false, Spark does not know how large the source is.
    """
    return {**locals()}


CASES = [
    case("upsert"),
    case("a source of unknown size", is_sized=False),
    case("a large source of unknown size", BATCH.replace("range(20)", "range(20000)"), is_sized=False),
    case("another writer changes a row", meanwhile="UPDATE {t} SET price = 99 WHERE id = 3", ours=False),
    case("another writer deletes a row", meanwhile="DELETE FROM {t} WHERE id = 6", ours=False),
    case(
        "another writer adds a row of a key",
        meanwhile="INSERT INTO {t} VALUES (3, 'other', 1D, timestamp '2026-01-01 00:00:00')",
        only="iceberg",
        ours=False,
    ),
    case("key twice in the source", BATCH.replace("id * 3 id", "id % 10 id"), ours=False),
    case("new key twice in the source", BATCH.replace("id * 3 id", "id % 10 + 100 id"), ours=False),
    case(
        "type that Spark casts",
        "SELECT id, id name, 1D price, timestamp '2026-01-01 00:00:00' at FROM range(5)",
        ours=False,
    ),
    case("column that is not there", "SELECT id, 'x' name FROM range(5)", ours=False),
    case(
        "files with deleted rows",
        only="iceberg",
        table="TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
        before=("DELETE FROM {t} WHERE id % 2 = 0",),
        ours=False,
    ),
    case("ordered table", only="iceberg", before=("ALTER TABLE {t} WRITE ORDERED BY id",), ours=False),
    case(
        "column that was widened",
        only="iceberg",
        columns=COLUMNS.replace("id bigint", "id int"),
        base=BASE.replace("id,", "int(id) id,", 1),
        before=("ALTER TABLE {t} ALTER COLUMN id TYPE bigint",),
    ),
    case(
        "partitioning that has changed",
        only="iceberg",
        before=("ALTER TABLE {t} ADD PARTITION FIELD days(at)",),
        ours=False,
    ),
    case(
        "null where none may be",
        columns=COLUMNS.replace("name string", "name string NOT NULL"),
        batch=BATCH.replace("concat('m', id)", "IF(id = 3, NULL, 'x')"),
        ours=False,
    ),
    case("rows that only the table has", merge=UPSERT + " WHEN NOT MATCHED BY SOURCE THEN DELETE", ours=False),
    case(
        "mistake that no row meets",
        columns=COLUMNS.replace("name string", "name string NOT NULL"),
        batch=BATCH.replace("range(20)", "range(0)"),
        merge="MERGE INTO {t} t USING b s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        only="iceberg",
        ours=False,
    ),
    case(
        "partition named like a null",
        table="PARTITIONED BY (name)",
        batch=BATCH.replace("concat('m', id)", "IF(id % 3 = 0, '__HIVE_DEFAULT_PARTITION__', 'x')"),
        ours=False,
    ),
    case("mistake", merge=UPSERT.replace("t.id = s.id", "t.id = s.nothing"), ours=False),
    case(
        "source that reads the table",
        merge="""MERGE INTO {t} t USING (SELECT s.id, s.name, o.price, s.at FROM b s
         JOIN {t} o ON s.id = o.id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *""",
    ),
    case(
        "partition with an empty name",
        table="PARTITIONED BY (name)",
        only="delta",
        ours=False,
        batch=BATCH.replace("concat('m', id)", "IF(id % 3 = 0, '', 'x')"),
    ),
    case(
        "rule of a column",
        only="delta",
        before=("ALTER TABLE {t} ADD CONSTRAINT low CHECK (price < 5000)",),
        ours=False,
    ),
    case(
        "deletion vectors",
        only="delta",
        table="TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        before=("DELETE FROM {t} WHERE id % 2 = 0",),
        ours=False,
    ),
    case("feed of changes", only="delta", table="TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", ours=False),
    case(
        "names of columns that files do not have",
        only="delta",
        ours=False,
        table="TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    ),
    case("limited text", only="delta", columns=COLUMNS.replace("name string", "name varchar(4)"), ours=False),
    case(
        "expressions",
        merge="""MERGE INTO {t} t USING (SELECT id, upper(name) name, price * 2 price, at FROM b) s
         ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.price = s.price + t.price""",
        ours=False,
    ),
]


CORE = frozenset(
    {
        *("upsert", "key twice in the source", "files with deleted rows", "deletion vectors"),
        *("another writer changes a row", "partition named like a null"),
    }
)
"""The cases that are compared each time; the others are compared before a release."""


def outcome(table, statement):
    try:
        return [row.asDict() for row in spark.sql(statement.format(t=table)).collect()]
    except Exception as error:  # noqa: BLE001  what Spark raises is compared
        told = error.getCondition() if isinstance(error, PySparkException) else None
        return told or str(error).splitlines()[0]


def found(table):
    rows = spark.sql(f"SELECT to_json(struct(*)) FROM {table} ORDER BY 1").collect()
    return [row[0] for row in rows]


merges = []
original = run.merged


def noted(*given):
    done = original(*given)
    merges.append(done is not None)
    return done


run.merged = noted
reached = run.reach
waiting = []


def reach(name):
    if name == "lake.merging" and waiting:
        spark.sql(waiting.pop())
    reached(name)


run.reach = reach
# What a statement means does not depend on the format, so Delta merges only some of them.
SHARED = {
    *("key twice in the source", "new key twice in the source", "type that Spark casts", "mistake", "expressions"),
    *("column that is not there", "rows that only the table has"),
}
chosen = CASES if WHICH == "all" else [one for one in CASES if one["name"] in CORE]
if FORMAT == "delta":
    chosen = [one for one in chosen if one["name"] not in SHARED]
spark.sql(f"CREATE DATABASE {'lake.' if FORMAT == 'iceberg' else ''}db")
with Path(OUT).open("w") as out:
    for number, one in enumerate(one for one in chosen if one["only"] in {"", FORMAT}):
        tables = [f"{'lake.' if FORMAT == 'iceberg' else ''}db.{side}_{number}" for side in ("ours", "spark")]
        for table in tables:
            layout, _, properties = one["table"].partition("TBLPROPERTIES")
            properties = f"TBLPROPERTIES{properties}" if properties else ""
            spark.sql(f"CREATE TABLE {table} ({one['columns']}) USING {FORMAT} {layout} {properties}")
            spark.sql(f"INSERT INTO {table} {one['base']}")
            for statement in one["before"]:
                spark.sql(statement.format(t=table))
        batch = spark.sql(one["batch"])
        batch = batch if one["is_sized"] else spark.createDataFrame(batch.rdd, batch.schema)
        batch.createOrReplaceTempView("b")
        merges.clear()
        if one["meanwhile"]:
            waiting.append(one["meanwhile"].format(t=tables[0]))
        outcomes = [outcome(tables[0], one["merge"])]
        assert not waiting, one["name"]
        ours = list(merges)
        spark.conf.set("spark.gluepot.nativeMerge", "false")
        if one["meanwhile"]:
            spark.sql(one["meanwhile"].format(t=tables[1]))
        outcomes.append(outcome(tables[1], one["merge"]))
        spark.conf.unset("spark.gluepot.nativeMerge")
        told = {
            "name": one["name"],
            "merge": one["merge"],
            "wanted": one["ours"],
            "ours": ours,
            "outcomes": outcomes,
            "rows": [found(t) for t in tables],
        }
        print(json.dumps(told), file=out, flush=True)
    run.merged, run.reach = original, reached
    stories = 8 if WHICH == "all" else 1
    compared = merges_of(FORMAT, Random(f"merge_{FORMAT} {SEED}"), spark, Path(WAREHOUSE), stories=stories)
    print(json.dumps(asdict(compared)), file=out, flush=True)
