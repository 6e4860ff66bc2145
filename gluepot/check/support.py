"""`python -m gluepot.check.support > docs/support.md` documents what works, from the code that runs it."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from awsglue.unsupported import GLUE_CONTEXT
from gluepot.check.calls import TRANSFORM
from gluepot.check.finding import Level
from gluepot.check.kinds import CLASSES, TRANSFORMS
from gluepot.check.verdict import known

HEADS = {
    "GlueContext": "`glueContext`",
    "DataFrameReader": "`glueContext.create_data_frame`",
    "DynamicFrameReader": "`glueContext.create_dynamic_frame`",
    "DynamicFrameWriter": "`glueContext.write_dynamic_frame`",
    "EntityDetector": "`awsglueml.transforms.EntityDetector`",
    TRANSFORM: "`awsglue.transforms`, `awsgluedq.transforms`, `awsglueml.transforms`",
}
_COLUMNS = 100

# Methods that only our own modules use; Glue does not have them.
_OURS = frozenset(
    {
        *(
            "DynamicFrame.drop_null_fields",
            "DynamicFrame.known_schema",
            "DynamicFrame.rows_for",
            "DynamicFrame.with_step",
        ),
        "GlueContext.empty_frame",
    }
)

_PREFACE = """# What works

Made from the code by `python -m gluepot.check.support`; a test compares it, another one makes every
call that is said to work. Options that are not there and values that differ:
[limits.md](limits.md). `gluepot check SCRIPT` says the same of a script, with its own arguments.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in Glue's library.

    Args:
        owner: class of the method, or `TRANSFORM`.
        name: name of the method or transform.
        level: whether it works.
        note: what is missing.
    """

    owner: str
    name: str
    level: Level
    note: str = ""


def entries() -> Iterator[Entry]:
    """Yield every name that scripts may call, by class."""
    for owner, cls in CLASSES.items():
        unsupported = GLUE_CONTEXT if owner == "GlueContext" else frozenset()
        names = {name for name in dir(cls) if not name.startswith("_") and _is_glues(cls, name)}
        for name in sorted(names | unsupported):
            if f"{owner}.{name}" not in _OURS:
                yield Entry(owner, name, *known(owner, name))
    for name in TRANSFORMS:
        yield Entry(TRANSFORM, name, *known(TRANSFORM, name))


def support_table() -> str:
    """Return the document."""
    parts = [_PREFACE]
    for owner, group in groupby(entries(), key=lambda one: one.owner):
        names = list(group)
        parts += [f"## {HEADS.get(owner, f'`{owner}`')}\n", _table(names), *_notes(names)]
    return "\n".join(parts)


def _table(names: Sequence[Entry]) -> str:
    words = {Level.SUPPORTED: "yes", Level.PARTLY: "partly"}
    rows = (f"| `{one.name}` | {words.get(one.level, 'no')} |\n" for one in names)
    return "| Name | Works |\n| --- | --- |\n" + "".join(rows)


def _notes(names: Sequence[Entry]) -> Iterator[str]:
    """Yield the notes of these entries, for below their table, which would be too wide with them."""
    items = (
        textwrap.fill(
            f"- `{one.name}`: {one.note}",
            _COLUMNS,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for one in names
        if one.note
    )
    text = "\n".join(items)
    if text:
        yield f"What is missing:\n\n{text}\n"


def _is_glues(cls: type, name: str) -> bool:
    """Tell whether a method belongs to Glue's library, and not to its base class in Spark."""
    method = inspect.getattr_static(cls, name)
    plain = method.__func__ if isinstance(method, classmethod) else method
    return inspect.isfunction(plain) and plain.__module__.partition(".")[0] in {"awsglue", "awsglueml"}


if __name__ == "__main__":
    print(support_table(), end="")
