"""Documents that lie in fields as text, by format: what Unbox reads."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.objects import batch_from_objects


class BoxFormat(Protocol):
    """Reads texts, each one document. Picklable."""

    def read(self, texts: Sequence[bytes]) -> Chunk:
        """Return the documents in order; an error for each other text, with its index as position."""


@dataclass(frozen=True, slots=True)
class BoxedJson:
    """JSON objects."""

    def read(self, texts: Sequence[bytes]) -> Chunk:
        """See `BoxFormat.read`."""
        return JsonDecoder().decode(texts, range(len(texts)), "", "")


@dataclass(frozen=True, slots=True)
class BoxedCsv:
    """One line of values, all of them text; called `col0`, `col1`, ... where no header names them.

    Args:
        separator: one character.
        quote: one character; None for no quoting.
        escaper: a character that takes the next one literally; None for none.
        with_header: whether the line before the values holds their names.
        skip_first: whether to leave out the first line.
    """

    separator: str = ","
    quote: str | None = '"'
    escaper: str | None = None
    with_header: bool = False
    skip_first: bool = False

    def read(self, texts: Sequence[bytes]) -> Chunk:
        """See `BoxFormat.read`."""
        documents, errors = [], []
        for index, text in enumerate(texts):
            try:
                documents.append(self._document(text.decode()))
            except (csv.Error, ValueError) as wrong:
                message = f"The text is no line of values: {wrong}."
                errors.append(ErrorRecord(text, "malformed_csv", message, Coordinates(position=str(index))))
        return Chunk(batch_from_objects(documents), errors)

    def _document(self, text: str) -> dict[str, str]:
        lines = list(
            csv.reader(
                text.splitlines(keepends=True)[self.skip_first :],
                delimiter=self.separator,
                quotechar=self.quote,
                escapechar=self.escaper,
                quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
                strict=True,
            )
        )
        names = lines.pop(0) if self.with_header and lines else None
        if not lines:
            raise ValueError("it is empty")
        if names is None:
            names = [f"col{index}" for index in range(len(lines[0]))]
        return dict(zip(names, lines[0], strict=False))
