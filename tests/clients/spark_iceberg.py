"""Stock Spark with Iceberg's catalog of AWS Glue; prints rows, a line of JSON each.

Arguments: the folder of tables, and the endpoint. Runs with our own Spark and the locked archives of Iceberg, but with
none of our modules in the way: the catalog is Iceberg's own.
"""

import json
import sys

from pyspark.sql import SparkSession

from gluepot.servers.jars.fetch import locked_archives

WAREHOUSE, ENDPOINT = sys.argv[1:]
CATALOG = {
    "": "org.apache.iceberg.spark.SparkCatalog",
    ".catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
    ".io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
    ".warehouse": WAREHOUSE,
    ".client.region": "us-east-1",
    ".glue.endpoint": ENDPOINT,
}

archives = [str(path) for path in locked_archives("iceberg") if path.name.startswith("iceberg-")]
builder = SparkSession.builder.master("local[1]").config("spark.jars", ",".join(archives))
builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
for name, value in CATALOG.items():
    builder = builder.config(f"spark.sql.catalog.glue{name}", value)
spark = builder.getOrCreate()


def tell(statement):
    print(json.dumps([list(row) for row in spark.sql(statement).collect()]), flush=True)


tell("SELECT id, day FROM glue.shop.orders ORDER BY id")
spark.sql("INSERT INTO glue.shop.orders VALUES (4, 'c')")
spark.sql("ALTER TABLE glue.shop.orders ADD COLUMN note string COMMENT 'free text'")
spark.sql("CREATE TABLE glue.shop.days USING iceberg AS SELECT day FROM glue.shop.orders WHERE id > 2")
spark.sql("ALTER TABLE glue.shop.days RENAME TO shop.calendar")
tell("SHOW TABLES IN glue.shop")
