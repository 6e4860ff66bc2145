"""Calls awswrangler's functions for the Data Catalog; prints what each returns, a line of JSON each."""

import json

import awswrangler
import boto3

LAKE = "s3://lake/orders/"
ORDERS = {"database": "shop", "table": "orders"}

catalog = awswrangler.catalog
# One session, because awswrangler makes a client for each call, which is fast where the session knows its model.
boto3.setup_default_session()


def tell(value):
    print(json.dumps(value, default=str), flush=True)


catalog.create_database("shop", description="first")
catalog.create_database("shop", description="the shop", exist_ok=True)
tell(catalog.databases().to_dict("records"))
catalog.create_parquet_table(
    **ORDERS,
    path=LAKE,
    columns_types={"id": "bigint", "total": "double"},
    partitions_types={"day": "string", "region": "string"},
    compression="snappy",
    description="all orders",
    parameters={"source": "till"},
    columns_comments={"id": "the key"},
)
tell([catalog.does_table_exist(**ORDERS), catalog.does_table_exist("shop", "none")])

# More than AWS takes in one request, so the client sends several.
places = {f"{LAKE}day={day}/region={region}/": [str(day), region] for day in range(60) for region in ("eu", "us")}
catalog.add_parquet_partitions(**ORDERS, partitions_values=places, compression="snappy")
tell(catalog.get_partitions(**ORDERS) == places)
tell(catalog.get_parquet_partitions(**ORDERS, expression="day = '7' AND region <> 'us'"))
catalog.delete_partitions(**ORDERS, partitions_values=[["7", "eu"]])
tell(len(catalog.get_partitions(**ORDERS)))
tell(len(catalog.delete_all_partitions(**ORDERS)))

tell(catalog.tables(database="shop", name_contains="rder").to_dict("records"))
tell([table["Name"] for table in catalog.search_tables("orders")])
tell([table["Name"] for table in catalog.get_tables()])
tell(catalog.table(**ORDERS).to_dict("records"))
tell(catalog.get_table_types(**ORDERS))
tell(catalog.get_columns_comments(**ORDERS))
tell([catalog.get_table_location(**ORDERS), catalog.get_table_description(**ORDERS)])
tell(catalog.get_table_parameters(**ORDERS)["source"])
catalog.upsert_table_parameters({"source": "web"}, **ORDERS)
catalog.add_column(**ORDERS, column_name="note", column_type="string", column_comment="free text")
catalog.overwrite_table_parameters({"classification": "parquet"}, **ORDERS, catalog_versioning=True)
tell(catalog.get_table_parameters(**ORDERS))
tell(catalog.get_table_number_of_versions(**ORDERS))
catalog.delete_column(**ORDERS, column_name="note")
tell(list(catalog.get_table_types(**ORDERS)))

catalog.create_csv_table(database="shop", table="log", path="s3://lake/log/", columns_types={"at": "date"}, sep=";")
catalog.create_json_table(
    database="shop", table="events", path="s3://lake/events/", columns_types={"who": "struct<name:string>"}
)
tell(sorted(catalog.tables(database="shop")["Table"]))
tell([catalog.delete_table_if_exists(**ORDERS), catalog.delete_table_if_exists(**ORDERS)])
catalog.delete_database("shop")
tell(len(catalog.databases()))
