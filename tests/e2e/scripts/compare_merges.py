"""Merges one batch after another into pairs of equal tables: into one as a script of ours does, into the other by Spark.

Writes a line of JSON for each case, with the rows of both tables and whether Spark's join was left out.
"""

import json
import random
import sys
from pathlib import Path

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.errors import PySparkException

from awsglue.context import GlueContext
from gluepot.connectors.lake.merging import run

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


NESTED = "id bigint, one struct<x: int, y: array<string>>, tags map<string, bigint>, dec decimal(12, 2), day date"
NESTED_ROWS = "SELECT id + {0} id, named_struct('x', int(id), 'y', array('a', CAST(NULL AS string))) one,"
NESTED_ROWS += " map('k', id * {1}) tags, CAST(id * {1} AS decimal(12, 2)) dec, date '2026-01-01' day FROM range(10)"

CASES = [
    case("upsert"),
    case("unchanged", "SELECT id + 100 id, 'x' name, 1D price, timestamp '2026-01-01 00:00:00' at FROM range(0)"),
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
    case("only new rows", BATCH.replace("id * 3 id", "id + 1000 id")),
    case(
        "all rows deleted",
        merge="MERGE INTO {t} t USING b s ON t.id = s.id WHEN MATCHED THEN DELETE",
        batch=BATCH.replace("id * 3 id", "id id").replace("range(20)", "range(60)"),
    ),
    case(
        "conditions",
        merge="""MERGE INTO {t} AS t USING (SELECT * FROM b WHERE id > 3) AS s ON s.id = t.id
         WHEN MATCHED AND s.name = 'm4' OR s.price IS NULL THEN DELETE
         WHEN MATCHED AND NOT (s.at <= t.at) AND s.name IN ('m6', 'm7', 'm8') THEN UPDATE SET *
         WHEN MATCHED AND s.id > 30 THEN UPDATE SET t.name = s.name, price = 7.5D
         WHEN NOT MATCHED AND s.name <> 'm19' THEN INSERT (id, name) VALUES (s.id, 'added')""",
        ours=False,
    ),
    case(
        "conditions without a double literal",
        merge="""MERGE INTO {t} AS t USING (SELECT * FROM b WHERE id > 3) AS s
         ON s.id = t.id
         WHEN MATCHED AND s.name = 'm4' OR s.price IS NULL THEN DELETE
         WHEN MATCHED AND NOT (s.at <= t.at) AND s.name IN ('m6', 'm7', 'm8') THEN UPDATE SET *
         WHEN MATCHED AND s.id > 30 THEN UPDATE SET t.name = s.name, price = NULL
         WHEN NOT MATCHED AND s.name <> 'm19' THEN INSERT (id, name) VALUES (s.id, 'added')""",
    ),
    case(
        "condition that is null",
        batch=BATCH.replace("concat('m', id)", "IF(id % 2 = 0, NULL, 'q')"),
        merge="""MERGE INTO {t} t USING b s ON t.id = s.id WHEN MATCHED AND s.name = 'q' THEN DELETE
         WHEN NOT MATCHED AND NOT s.name <=> 'q' THEN INSERT *""",
    ),
    case("further condition of the match", merge=UPSERT.replace("t.id = s.id", "t.id = s.id AND t.name <> 'n9'")),
    case(
        "null keys",
        BATCH.replace("id * 3 id", "IF(id % 4 = 0, NULL, id) id"),
        base=BASE.replace("SELECT id,", "SELECT IF(id % 5 = 0, NULL, id) id,"),
    ),
    case("key twice in the table", base=BASE.replace("SELECT id,", "SELECT id % 10 id,")),
    case("key twice in the source", BATCH.replace("id * 3 id", "id % 10 id"), ours=False),
    case("new key twice in the source", BATCH.replace("id * 3 id", "id % 10 + 100 id"), ours=False),
    case(
        "two keys",
        merge=UPSERT.replace("t.id = s.id", "t.id = s.id AND t.name = s.name"),
        batch="SELECT id, IF(id % 2 = 0, concat('n', id), NULL) name, 9D price, at FROM (" + BASE + ")",
    ),
    case(
        "names in other case, wider types, further columns",
        "SELECT int(id) ID, 'x' Name, float(id) PRICE, current_timestamp() extra,"
        " timestamp '2026-02-02 00:00:00' AT FROM range(5, 50)",
    ),
    case(
        "type that Spark casts",
        "SELECT id, id name, 1D price, timestamp '2026-01-01 00:00:00' at FROM range(5)",
        ours=False,
    ),
    case("column that is not there", "SELECT id, 'x' name FROM range(5)", ours=False),
    case("nested columns", NESTED_ROWS.format(5, 7), columns=NESTED, base=NESTED_ROWS.format(0, 1)),
    case("partitioned by key", only="iceberg", table="PARTITIONED BY (bucket(4, id))"),
    case("partitioned by key and day", only="iceberg", table="PARTITIONED BY (truncate(10, id), days(at))"),
    case("rows that move to other days", only="iceberg", table="PARTITIONED BY (days(at))"),
    case(
        "rows that move to other months",
        only="iceberg",
        table="PARTITIONED BY (months(at))",
        batch=BATCH.replace("2026-01-01 12", "2026-03-01 12"),
    ),
    case(
        "partitioned by name, with nulls",
        table="PARTITIONED BY (name)",
        batch=BATCH.replace("concat('m', id)", "IF(id % 3 = 0, NULL, concat('a b/c=', id % 3))"),
        base=BASE.replace("concat('n', id)", "IF(id % 4 = 0, NULL, concat('a b/c=', id % 3))"),
    ),
    case(
        "partition that a clause leaves",
        only="iceberg",
        table="PARTITIONED BY (truncate(3, name))",
        merge="""MERGE INTO {t} t USING b s
         ON t.id = s.id WHEN MATCHED AND s.id < 20 THEN UPDATE SET price = s.price, at = s.at
         WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *""",
    ),
    case("merge on read", only="iceberg", table="TBLPROPERTIES ('write.merge.mode' = 'merge-on-read')", ours=False),
    case(
        "files with deleted rows",
        only="iceberg",
        table="TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
        before=("DELETE FROM {t} WHERE id % 2 = 0",),
        ours=False,
    ),
    case("third version of the format", only="iceberg", table="TBLPROPERTIES ('format-version' = '3')", ours=False),
    case("first version of the format", only="iceberg", table="TBLPROPERTIES ('format-version' = '1')"),
    case("ordered table", only="iceberg", before=("ALTER TABLE {t} WRITE ORDERED BY id",), ours=False),
    case(
        "columns that came and went",
        only="iceberg",
        before=(
            "ALTER TABLE {t} RENAME COLUMN name TO title",
            "ALTER TABLE {t} ADD COLUMN more int",
            "ALTER TABLE {t} RENAME COLUMN title TO name",
            "ALTER TABLE {t} DROP COLUMN price",
        ),
        batch="SELECT id * 3 id, 'x' name, int(id) more, timestamp '2026-01-01 12:00:00' at FROM range(20)",
    ),
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
    case("no null where none may be", columns=COLUMNS.replace("name string", "name string NOT NULL")),
    case("rows that only the table has", merge=UPSERT + " WHEN NOT MATCHED BY SOURCE THEN DELETE", ours=False),
    case("mistake", merge=UPSERT.replace("t.id = s.id", "t.id = s.nothing"), ours=False),
    case("empty table", base=BASE.replace("range(40)", "range(0)"), table="PARTITIONED BY (name)"),
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
        "partitioned by whole number and day",
        table="PARTITIONED BY (whole, day)",
        columns=COLUMNS + ", whole int, day date",
        base=BASE.replace(" FROM", ", int(id % 3) whole, date(at) day FROM"),
        batch=BATCH.replace(" FROM", ", int(id % 4) whole, date(at) day FROM"),
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
    case(
        "column that was added",
        only="delta",
        before=("ALTER TABLE {t} ADD COLUMN more int",),
        batch=BATCH.replace(" FROM", ", int(id) more FROM"),
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
        "upsert",
        "further condition of the match",
        "null keys",
        "key twice in the source",
        "two keys",
        "nested columns",
        "partitioned by key and day",
        "partitioned by name, with nulls",
        "files with deleted rows",
        "deletion vectors",
        "another writer changes a row",
    }
)
"""The cases that are compared each time; the others are compared before a release."""


def at_random(number, chance):
    """Tables and batches of few keys, with nulls, and clauses put together by chance."""

    def rows(count):
        each = []
        for n in range(count):
            key = chance.choice(["NULL", *(f"{one}L" for one in range(12))])
            each.append(
                f"({key}, {chance.choice(['NULL', repr('a'), repr('b'), repr('ü')])}, {chance.choice(['NULL', '1L', '2L'])}, {n}L)"
            )
        return f"SELECT * FROM VALUES {', '.join(each)} AS v(id, name, group, n)"

    on = chance.choice(
        ["t.id = s.id", "s.name = t.name AND t.id = s.id", "t.id = s.id AND t.group > 1", "t.id = s.id AND s.n < 9"]
    )
    tests = ["", " AND s.name = 'a'", " AND t.name <> s.name", " AND s.group >= t.group", " AND s.name IS NOT NULL"]
    acts = ["DELETE", "UPDATE SET *", "UPDATE SET name = s.name, group = NULL"]
    matched = "".join(
        f" WHEN MATCHED{test} THEN {chance.choice(acts)}"
        for test in [*chance.sample(tests[1:], chance.randrange(3)), chance.choice(tests)]
    )
    added = chance.choice(["", " WHEN NOT MATCHED THEN INSERT *", " WHEN NOT MATCHED AND s.name > 'a' THEN INSERT *"])
    table = chance.choice(
        ["", "PARTITIONED BY (bucket(3, id))", "PARTITIONED BY (name)", "PARTITIONED BY (group, name)"]
    )
    if FORMAT == "delta":
        table = table.replace("bucket(3, id)", "id")
    batch = f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id, name ORDER BY n) r FROM ({rows(20)})) WHERE r = 1 OR id IS NULL"
    if chance.random() < 0.8:
        batch = batch.replace("PARTITION BY id, name", "PARTITION BY id")
    return case(
        f"by chance {number}",
        batch,
        f"MERGE INTO {{t}} t USING b s ON {on}{matched}{added}",
        "id bigint, name string, group bigint, n bigint",
        rows(30),
        table,
        ours=None,
    )


def outcome(table, statement):
    try:
        return [row.asDict() for row in spark.sql(statement.format(t=table)).collect()]
    except Exception as error:  # noqa: BLE001  what Spark raises is compared
        told = error.getCondition() if isinstance(error, PySparkException) else None
        return told or str(error).splitlines()[0]


def found(table):
    rows = spark.sql(f"SELECT to_json(struct(*)) FROM {table} ORDER BY 1").collect()
    return [row[0] for row in rows]


chance = random.Random(int(SEED))
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
    *("unchanged", "conditions", "condition that is null", "further condition of the match", "key twice in the table"),
    *("key twice in the source", "new key twice in the source", "two keys", "type that Spark casts", "mistake"),
    *("column that is not there", "rows that only the table has", "expressions"),
}
chosen = CASES if WHICH == "all" else [one for one in CASES if one["name"] in CORE]
wanted = [*chosen, *(at_random(n, chance) for n in range(12 if WHICH == "all" else 1))]
if FORMAT == "delta":
    wanted = [one for one in wanted if one["name"] not in SHARED]
spark.sql(f"CREATE DATABASE {'lake.' if FORMAT == 'iceberg' else ''}db")
with Path(OUT).open("w") as out:
    for number, one in enumerate(one for one in wanted if one["only"] in {"", FORMAT}):
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
