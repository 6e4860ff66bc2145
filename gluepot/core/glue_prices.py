"""What AWS Glue costs, with date and source."""

from __future__ import annotations

USD_PER_DPU_HOUR = 0.44
USD_PER_FLEX_DPU_HOUR = 0.29
PRICE_SOURCE = "aws.amazon.com/glue/pricing, example of us-east-1, read November 2026; regions differ"
BILLED_SECS = 60
"""For how long each run is billed at least (Glue 2.0 and later)."""
