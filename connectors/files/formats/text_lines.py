"""Text in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import BinaryIO

from etlcore.errors import PermanentError

BLOCK_BYTES = 4 << 20
MOST_LINE_BYTES = 128 << 20
BOM = b"\xef\xbb\xbf"


def line_blocks(plain: BinaryIO, place: str) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield lines that are not blank, without their ends, with the byte each begins at.

    Raises:
        PermanentError: a line is longer than `MOST_LINE_BYTES`.
    """
    held, at = [plain.read(BLOCK_BYTES)], 0
    if held[0].startswith(BOM):
        held[0], at = held[0][len(BOM) :], len(BOM)
    held_bytes = len(held[0])
    while True:
        block = plain.read(BLOCK_BYTES)
        if block and b"\n" not in held[-1]:
            held.append(block)
            held_bytes += len(block)
            if held_bytes > MOST_LINE_BYTES:
                raise PermanentError(
                    f"{place} has a line of more than {MOST_LINE_BYTES >> 20} MiB at byte {at};"
                    " if it is one document, say multiLine, or leave it out with exclusions"
                )
            continue
        text = b"".join(held)
        cut = text.rfind(b"\n") + 1 if block else len(text)
        if lines := _lines(text[:cut], at):
            yield lines
        if not block:
            return
        at += cut
        held = [text[cut:] + block]
        held_bytes = len(held[0])


def _lines(text: bytes, at: int) -> tuple[list[bytes], list[int]] | None:
    lines = text.removesuffix(b"\n").split(b"\n")
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=at))
    kept = [index for index, line in enumerate(lines) if line and not line.isspace()]
    if len(kept) == len(lines):
        return lines, starts
    return ([lines[index] for index in kept], [starts[index] for index in kept]) if kept else None
