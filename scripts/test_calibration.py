"""python -m scripts.test_calibration: a fixed task; its processor time tells how fast this machine is.

It has a part of each kind that the tests consist of: Python code, compression in C, and a Java program that starts.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

import pyarrow as pa
import pyspark

from gluepot.spark.java import ensure_java

SEED = 64
NUMBERS = 5_000_000
TEXTS = 60_000
LEVEL = 12
PARTS = 12
JAVA_STARTS = 2


def compute() -> int:
    """Return the length of a compressed text. Each run on each machine does the same work."""
    random = Random(SEED)  # noqa: S311  the same numbers each time are the point
    counts: dict[int, int] = {}
    for _ in range(NUMBERS):
        number = random.getrandbits(16)
        counts[number] = counts.get(number, 0) + 1
    text = "\n".join(f"{random.getrandbits(24):x} {number}" for number in range(TEXTS))
    codec = pa.Codec("zstd", compression_level=LEVEL)
    return sum(len(codec.compress(f"{part}{text}".encode())) for part in range(PARTS))


def start_java() -> None:
    """Start Spark's command line for its version, which loads some thousand classes."""
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = [ensure_java(os.environ).java, "-cp", str(jars), "org.apache.spark.deploy.SparkSubmit", "--version"]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    compute()
    for _ in range(JAVA_STARTS):
        start_java()
