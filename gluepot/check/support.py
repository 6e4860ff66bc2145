"""python -m gluepot.check.support > docs/support.md: what of Glue's library works, told by the code that runs it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

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
    TRANSFORM: "`awsglue.transforms`, `awsglueml.transforms`",
}
# There for our own modules; Glue has no such methods.
_OURS = frozenset({"DynamicFrame.drop_null_fields"})

_PREFACE = """# What works

Made from the code by `python -m gluepot.check.support`; a test compares it, another one makes every call that is said
to work. Options that are not there and values that differ: [limits.md](limits.md). `gluepot check SCRIPT` says the same
of a script, with its own arguments.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of Glue's.

    Args:
        owner: class, or `TRANSFORM`.
        name: of the method or transform.
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
    lines = [_PREFACE]
    owner = ""
    for one in entries():
        if one.owner != owner:
            owner = one.owner
            lines += ["", f"## {HEADS.get(owner, f'`{owner}`')}", "", "| Name | Works | |", "| --- | --- | --- |"]
        works = {Level.SUPPORTED: "yes", Level.PARTLY: "partly"}.get(one.level, "no")
        lines.append(f"| `{one.name}` | {works} | {one.note} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _is_glues(cls: type, name: str) -> bool:
    """Tell whether a method is of Glue's library, and not of the class of Spark's below it."""
    method = inspect.getattr_static(cls, name)
    plain = method.__func__ if isinstance(method, classmethod) else method
    return inspect.isfunction(plain) and plain.__module__.partition(".")[0] == "awsglue"


if __name__ == "__main__":
    print(support_table(), end="")
