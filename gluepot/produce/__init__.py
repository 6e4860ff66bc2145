"""A load generator: records to Kafka or Kinesis at a rate that has a shape. `gluepot produce`, and for programs."""

from gluepot.produce.loop import Produced, Target, produce
from gluepot.produce.rates import Burst, Ramp, Shape, Sine, Steady, Unpaced
from gluepot.produce.records import Record, demo_payloads, file_payloads, keys, records

__all__ = [
    "Burst",
    "Produced",
    "Ramp",
    "Record",
    "Shape",
    "Sine",
    "Steady",
    "Target",
    "Unpaced",
    "demo_payloads",
    "file_payloads",
    "keys",
    "produce",
    "records",
]
