"""File names as Glue gives them, made from the commit key alone: a repeated batch repeats its names.

Glue's pattern is `run-<transformation_ctx>-<number>-part-...`, where the number is that of the job run. Ours is 15
digits for the write, then those of the micro-batch: no clock, no job name.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gluepot.connectors.files.sink.layout import REJECTS

if TYPE_CHECKING:
    from gluepot.connectors.values import CommitKey

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_CTX = 100


def run_prefix(key: CommitKey, ctx: str) -> str:
    """Return `run-<ctx>-<number>-`, or `run-<number>-` for an empty ctx.

    The number tells two writes of one batch apart even where the script names none of them, because the key's ctx is
    part of it. That also allows to shorten or simplify the readable part.

    Args:
        key: what the number is made from.
        ctx: `transformation_ctx` as the script gives it; characters other than letters, digits, `_` and `-` become `_`.
    """
    readable = _NOT_PLAIN.sub("_", ctx)[:_LONGEST_CTX]
    return f"run-{readable}-{_number(key)}-" if readable else f"run-{_number(key)}-"


def shared_prefix(key: CommitKey, ctx: str) -> str:
    """Return the same for a file that lies in a folder which several tables share, as a folder of rejects may."""
    return run_prefix(replace(key, ctx=f"{key.ctx} {key.target}") if key.target else key, ctx)


def rejects_name(key: CommitKey, ctx: str, task: int, *, is_own: bool) -> str:
    """Return the name of the file with the records that a task has rejected.

    Args:
        key: of the write.
        ctx: `transformation_ctx`.
        task: ordinal of the task.
        is_own: whether the folder of rejects belongs to the table alone.
    """
    prefix = f"{REJECTS}/{run_prefix(key, ctx)}" if is_own else shared_prefix(key, ctx)
    return f"{prefix}part-r-{task:05d}.rejects"


def published_name(final: str, generation: int, token: int) -> str:
    """Return the name a file is published under: `a.parquet` of generation 2 and driver 35 is `a-g2-dz.parquet`.

    The files of two generations lie side by side for a moment, so that readers of the manifest never see half of one.
    Those of two drivers never share a name, so one that was declared dead and wakes up overwrites nothing.

    Args:
        final: as the sink gave it.
        generation: counted from 1, which shows no number.
        token: of the driver, written with digits and letters; 0 shows none.
    """
    mark = (f"-g{generation}" if generation > 1 else "") + (f"-d{_base36(token)}" if token else "")
    folder, slash, name = final.rpartition("/")
    stem, dot, suffix = name.partition(".")  # the only dot of a name is that of its suffix, see `run_prefix`
    return f"{folder}{slash}{stem}{mark}{dot}{suffix}"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def _number(key: CommitKey) -> str:
    digest = hashlib.sha256(json.dumps([key.query_id, key.ctx]).encode()).digest()
    return f"{int.from_bytes(digest[:6]):015d}{key.batch_id:06d}"
