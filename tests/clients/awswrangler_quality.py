"""Calls awswrangler's functions for data quality; prints what each returns, a line of JSON each.

Arguments: a database and a table.
"""

import json
import sys

import awswrangler
import boto3

DATABASE, TABLE = sys.argv[1:]
ROLE = "arn:aws:iam::000000000000:role/etl"

quality = awswrangler.data_quality
boto3.setup_default_session()


def tell(value):
    print(json.dumps(value, default=str), flush=True)


quality.create_ruleset(name="wrangled", database=DATABASE, table=TABLE, dqdl_rules='Rules = [ IsUnique "id" ]')
quality.update_ruleset(name="wrangled", mode="upsert", dqdl_rules='Rules = [ IsUnique "id", RowCount = 4 ]')
tell(quality.get_ruleset("wrangled").to_dict("records"))
found = quality.evaluate_ruleset(name="wrangled", iam_role_arn=ROLE)
tell(found[["Name", "Description", "Result"]].to_dict("records"))
