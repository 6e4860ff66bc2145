"""The tables of both benchmarks, which tpcgen-cli makes, and their queries, which are those of Spark's own tests.

Results are no official ones of the TPC: no rule of its audits is kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from gluepot.servers import jars

SUITES = ("tpch", "tpcds")
DRIVER_MEMORY = "4g"
"""Of both sides. Some queries of TPC-DS fail in the gigabyte that Spark takes by default."""
_OTHER_COLUMNS: Mapping[str, set[str]] = {"tpch": set(), "tpcds": {"q30"}}
"""Queries that want a column of an older version of the benchmark."""


def make_tables(folder: Path, suite: str, scale: float) -> list[str]:
    """Write the tables as files of Parquet, and return their names."""
    tool = Path(sys.executable).with_name("tpcgen-cli")
    command = [str(tool), suite, "parquet", f"--scale-factor={scale}", f"--output-dir={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tables_of(folder)


def tables_of(folder: str | Path) -> list[str]:
    """Return the names of the tables in a folder."""
    return sorted(path.stem for path in Path(folder).glob("*.parquet"))


def queries_of(suite: str, tables: Iterable[str]) -> Mapping[str, str]:
    """Return the queries by name, in order; those about columns that the tables do not have are left out."""
    (archive,) = jars.ensure("spark-tests")
    with zipfile.ZipFile(archive) as opened:
        paths = [path for path in opened.namelist() if re.fullmatch(rf"{suite}/q\w+[.]sql", path)]
        found = {Path(path).stem: opened.read(path).decode() for path in paths}
    known = set(tables)
    missing = {name for name, sql in found.items() if not tables_in(sql, known)} | _OTHER_COLUMNS[suite]
    return {name: found[name] for name in sorted(found, key=_numbers) if name not in missing}


def tables_in(sql: str, tables: Iterable[str]) -> list[str]:
    """Return the tables that a query names."""
    words = set(re.findall(r"\w+", sql.lower()))
    return [table for table in tables if table in words]


def _numbers(name: str) -> tuple[int, str]:
    number = re.sub(r"\D", "", name)
    return int(number), name
