"""What is changed, the tests that may notice it, and the change of functions that are loaded already."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutants.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]
_FOLDERS: Mapping[str, Sequence[str]] = {
    "gluepot/commit": (
        *("decide", "publish", "writes", "journal", "overlap", "intent", "compaction", "rolling", "history", "links"),
        "refusal",
    ),
    "streaming/checkpoints": (
        *("lease", "chain", "rewind", "moves", "unfinished", "power_cut", "start", "table_ends"),
    ),
    "gluepot/core": ("leases",),
    "gluepot/bookmarks": ("jobrun", "files_input", "cursor_input"),
    "gluepot/bookmarks/ledger": ("connect", "edit", "lease", "ledger", "owner_lock", "portable", "thinning", "values"),
}
TARGETS = tuple(f"{folder}/{name}.py" for folder, names in _FOLDERS.items() for name in names)
TESTS = (
    *("tests/unit/commit", "tests/unit/checkpoints", "tests/unit/bookmarks", "tests/unit/dead_letters/test_purge.py"),
    *("tests/unit/core/test_leases.py", "tests/unit/streaming/test_lease.py", "tests/unit/tables/test_verify.py"),
    *("tests/unit/engine/test_purged_tables.py", "tests/unit/engine/test_table_columns.py"),
    *("tests/unit/engine/test_gates.py", "tests/unit/gluepot/test_checkpoint_commands.py"),
    *("tests/unit/gluepot/test_bookmark_commands.py", "tests/unit/gluepot/test_stream_bookmarks.py"),
    *("tests/unit/gluepot/test_kinesis_bookmarks.py", "tests/unit/kinesis/test_kinesis_checkpoint.py"),
    *("tests/contract/test_ledger.py",),
)


def sample(seed: int, count: int) -> list[Mutant]:
    """Draw wrong versions: two of each file, the others anywhere."""
    chance = random.Random(seed)
    of_files = [mutants(path, (ROOT / path).read_text()) for path in TARGETS]
    drawn = [one for of_file in of_files for one in chance.sample(of_file, min(2, len(of_file)))]
    rest = sorted({one for of_file in of_files for one in of_file} - set(drawn), key=lambda one: (one.path, one.number))
    drawn += chance.sample(rest, max(0, min(count - len(drawn), len(rest))))
    return drawn[:count]


def loaded(path: str) -> dict[str, list[FunctionType]]:
    """Return the functions of a file by qualified name; one that is defined twice is there twice."""
    real, found = os.path.realpath(ROOT / path), {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and os.path.realpath(one.__code__.co_filename) == real:
            found.setdefault(one.__qualname__, []).append(one)
    return found


def put(functions: Sequence[FunctionType], code: CodeType) -> None:
    """Give functions another code, wherever references to them are.

    Raises:
        LookupError: there is none to change.
    """
    same = [one for one in functions if one.__code__.co_firstlineno == code.co_firstlineno]
    if not same:
        raise LookupError(code.co_qualname)
    for one in same:
        one.__code__ = code
