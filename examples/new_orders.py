import json
import random
import sys
from datetime import UTC, datetime

import boto3

from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["bucket", "prefix", "orders"])

countries = ["DE", "FR", "US", "IN", "BR", "JP"]
now = datetime.now(UTC)
orders = [
    {
        "order_id": f"{now:%Y%m%d%H%M%S}-{number}",
        "ordered_at": now.isoformat(),
        "country": random.choice(countries),
        "amount": round(random.uniform(5, 500), 2),
    }
    for number in range(int(args["orders"]))
]
key = f"{args['prefix']}/{now:%Y%m%d-%H%M%S}.json"
boto3.client("s3").put_object(
    Bucket=args["bucket"], Key=key, Body="\n".join(json.dumps(order) for order in orders).encode()
)
print(f"{len(orders)} orders are in s3://{args['bucket']}/{key}")
