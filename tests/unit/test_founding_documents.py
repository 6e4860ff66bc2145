"""docs/reference/founding-documents.md: its rows have states and reasons, and what it names exists."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.documents import anchor_of, definitions, without_code
from tests.repository import REPOSITORY

PAGE = REPOSITORY / "docs/reference/founding-documents.md"
TEXT = PAGE.read_text(encoding="utf-8")
STATES = ("works", "partly", "missing", "not applicable")
REASONS = "Open items and reasons"

COMMENT = re.compile(r"<!--.*?-->")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w-]+(/[\w-]+)+(\.\w+)?")


class Row(NamedTuple):
    """A row of a table: an item of a document."""

    document: str
    item: str
    state: str
    how: str


def sections(text: str) -> dict[str, str]:
    """Return the text below each heading of the second level."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in COMMENT.sub("", line).strip("|").split("|")]


SECTIONS = sections(TEXT)
TABLES = {name: text for name, text in SECTIONS.items() if name != REASONS}
ROWS = [
    Row(document, *cells(line))
    for document, text in TABLES.items()
    for line in text.splitlines()
    if line.startswith("| ") and cells(line)[1] not in {"Here", "---"}
]
_PARTS = re.split(
    r"^### (.*)$", re.sub(r"^\[[^\]]+\]: .*$", "", SECTIONS[REASONS], flags=re.MULTILINE), flags=re.MULTILINE
)
REASON_TEXTS = {anchor_of(heading): text.strip() for heading, text in zip(_PARTS[1::2], _PARTS[2::2], strict=True)}


def test_every_row_has_a_state_and_says_how_or_why_not():
    assert len(ROWS) > 200
    assert [row for row in ROWS if row.state not in STATES or not row.item or not row.how] == []


def test_what_does_not_work_as_shown_leads_to_a_reason():
    open_rows = [row for row in ROWS if row.state in {"partly", "missing"}]
    reasons = {row: re.findall(r"\(#([\w-]+)\)", row.how) for row in open_rows}
    assert [row for row, found in reasons.items() if len(found) != 1 or not REASON_TEXTS.get(found[0])] == []


def test_every_reason_is_that_of_a_row():
    used = {anchor for row in ROWS for anchor in re.findall(r"\(#([\w-]+)\)", row.how)}
    assert set(REASON_TEXTS) == used


def test_the_counts_are_those_of_the_rows():
    counted = Counter((row.document, row.state) for row in ROWS)
    lines = [f"| {document} | {' | '.join(str(counted[document, state]) for state in STATES)} |" for document in TABLES]
    told = [line for line in TEXT.partition("\n## ")[0].splitlines() if re.match(r"\| .*\d \|$", line)]
    assert told == lines, "the table at the top of the page should be:\n" + "\n".join(lines)


def test_every_reference_link_is_defined_and_used():
    prose = re.sub(r"^\[[^\]]+\]: \S+$", "", without_code(TEXT), flags=re.MULTILINE)
    assert set(re.findall(r"\[([^\]]+)\](?!\()", prose)) == set(definitions(TEXT))


def test_commands_of_gluepot_exist_with_their_options():
    pages = re.split(r"^#+ (gluepot .*)$", (REPOSITORY / "docs/reference/commands.md").read_text(), flags=re.MULTILINE)
    known = dict(zip(pages[1::2], pages[2::2], strict=True))
    named = [" ".join(span.split()) for span in CODE.findall(TEXT) if span.startswith("gluepot ")]
    assert named
    unknown = [
        one
        for one in named
        if (command := one.partition(" --")[0]) not in known
        or any(not re.search(rf"`{option}[ `]", known[command]) for option in re.findall(r"--[\w-]+", one))
    ]
    assert unknown == []


def test_commands_of_aws_are_operations_of_the_service():
    operations = sections((REPOSITORY / "docs/service.md").read_text(encoding="utf-8"))["Operations"]
    named = re.findall(r"`aws [a-z]+ ([a-z-]+)[^`]*`", TEXT)
    assert named
    known = set(re.findall(r"\w+", operations))
    assert [one for one in named if "".join(map(str.capitalize, one.split("-"))) not in known] == []


def test_targets_of_make_exist():
    targets = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([\w-]+)`", TEXT)) <= set(targets)


def test_files_exist():
    named = [span for span in CODE.findall(TEXT) if PATH.fullmatch(span)]
    assert named
    folders = [REPOSITORY, REPOSITORY / "tests"]
    assert [one for one in named if not any((folder / Path(one)).exists() for folder in folders)] == []
