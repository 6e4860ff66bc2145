"""Each test runs in a process of its own, because a process loads pandas only once."""

import subprocess
import sys

BEGIN = """
import sys
import pyarrow as pa
from gluepot.spark import lazy_pandas

def is_loaded():
    return "pandas" in sys.modules

lazy_pandas.for_pyarrow()
"""


def run(*lines: str) -> str:
    """Run a program and return what it printed."""
    program = "\n".join((BEGIN, *lines))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_pyarrow_makes_and_reads_values_without_pandas():
    printed = run(
        "made = pa.table({'n': [1, None], 'text': ['a', 'b'], 'many': [[1.5], []]})",
        "print(made.to_pylist(), made['n'].null_count, pa.scalar('x').as_py(), is_loaded())",
    )
    assert printed == "[{'n': 1, 'text': 'a', 'many': [1.5]}, {'n': None, 'text': 'b', 'many': []}] 1 x False\n"


def test_pyarrow_knows_pandas_once_it_is_loaded():
    expected = {
        "pa.array(pd.Series([1.5, None])).null_count": "1",
        "pa.array(pd.Categorical(['a', 'b'])).type": "dictionary<values=string, indices=int8, ordered=0>",
        "pa.array(pd.date_range('2026-01-01', periods=2, tz='UTC')).type": "timestamp[ns, tz=UTC]",
        "pa.table(pd.DataFrame({'a': [1]})).schema.names": "['a']",
        "pa.table({'a': ['x', None]}).to_pandas().isna().sum().item()": "1",
        "pa.array([b'x']).dictionary_encode().to_pandas().dtype": "category",
    }
    printed = run("import pandas as pd", *(f"print({expression})" for expression in expected))
    assert printed.splitlines() == list(expected.values())


def test_nanoseconds_are_still_timestamps_of_pandas():
    printed = run(
        "print(repr(pa.scalar(1, pa.timestamp('ns')).as_py()), repr(pa.scalar(1, pa.duration('ns')).as_py()))"
    )
    assert printed == "Timestamp('1970-01-01 00:00:00.000000001') Timedelta('0 days 00:00:00.000000001')\n"


def test_pandas_that_is_being_loaded_has_no_instances_yet():
    printed = run(
        "import types",
        "sys.modules['pandas'] = types.ModuleType('pandas')",
        "print(pa.array([1, 2]).to_pylist())",
    )
    assert printed == "[1, 2]\n"


def test_pyspark_recognises_values_of_numpy_without_pandas():
    printed = run(
        "import numpy as np",
        "from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter",
        "lazy_pandas.for_pyspark()",
        "scalar, array = NumpyScalarConverter().can_convert, NumpyArrayConverter().can_convert",
        "print([scalar(one) for one in (np.int64(1), np.array([1]), 1, 'x')], is_loaded())",
        "print([array(one) for one in (np.int64(1), np.array([1]), np.array([[1]]), [1])], is_loaded())",
    )
    assert printed == "[True, False, False, False] False\n[False, True, False, False] False\n"
