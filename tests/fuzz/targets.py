"""The parsers that are fuzzed: one line each, with the bytes that our writers and others make.

A target takes any bytes. It returns if they are parsed rightly or refused, and raises if a rule is broken
(`rules.py`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluepot.frames.registered import ConfluentHeader, GlueHeader
from tests.fuzz import decoding, state, texts
from tests.fuzz.decoding import GROK, confluent_number, files, glue_number, registered

CORPUS = Path(__file__).with_name("corpus")
# Inputs that once broke a rule.
FOUND = Path(__file__).with_name("found")


@dataclass(frozen=True, slots=True)
class Target:
    """One parser.

    Args:
        name: its name.
        check: parses bytes, and raises if a rule is broken.
        seeds: valid and nearly valid inputs to begin with.
        edits: whether `make test` tries edits of them.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]
    edits: bool = True

    @property
    def inputs(self) -> list[bytes]:
        """The seeds, the inputs that earlier runs found to be of interest, and those that once broke a rule."""
        files = [folder / f"{self.name}.txt" for folder in (CORPUS, FOUND)]
        kept = [line for file in files if file.exists() for line in file.read_text().split()]
        return list(dict.fromkeys([*self.seeds(), *map(base64.b64decode, kept)]))


TARGETS = (
    Target("json", decoding.json_records, decoding.json_seeds),
    Target("json-kernel", decoding.known_json_records, lambda: [decoding.OF_KNOWN, *decoding.json_seeds()]),
    Target("kpl", decoding.kpl_records, decoding.kpl_seeds),
    Target("registry-confluent", registered(ConfluentHeader(), confluent_number), decoding.payloads),
    Target("registry-glue", registered(GlueHeader(), glue_number), decoding.payloads),
    Target("avro-file", files("avro"), decoding.avro_files),
    # The library that reads Ion never returns from some damaged files: docs/reliability/foreign-bytes.md.
    Target("ion-file", files("ion"), decoding.ion_files, edits=False),
    Target("xml-file", files("xml", rowTag="row"), decoding.xml_files),
    # Arrow raises outside of our calls for a line of too many values that is not UTF-8: docs/reliability/foreign-bytes.md.
    Target("csv-file", files("csv", withHeader=True), decoding.csv_files, edits=False),
    Target(
        "csv-multiline", files("csv", withHeader=True, multiLine=True, escaper="\\"), decoding.csv_files, edits=False
    ),
    Target("json-file", files("json", lines=True), decoding.json_files),
    Target("json-multiline", files("json", multiLine=True), decoding.json_files),
    Target("grok-file", files("grokLog", lines=True, logFormat=GROK), lambda: decoding.GROK_FILES),
    Target("manifest", state.manifests, state.manifest_seeds),
    Target("intent", state.intents, state.intent_seeds),
    Target("journal", state.journals, lambda: [state.journal().to_bytes(), state.DEEP]),
    Target("compaction", state.compactions, state.compaction_seeds),
    Target("rollup", state.rollups, state.rollup_seeds),
    Target("offsets", state.offset_entries, state.offset_seeds),
    Target("checkpoint", state.checkpoint_files, state.checkpoint_seeds),
    Target("start", state.start_files, state.start_seeds),
    Target("kinesis-note", state.notes, state.note_seeds),
    Target("bookmark", state.bookmarks, state.bookmark_seeds),
    Target("request", texts.requests, lambda: texts.REQUESTS),
    Target("dqdl", texts.rulesets, lambda: texts.RULESETS),
    Target("predicate", texts.predicates, lambda: texts.PREDICATES),
    Target("partition-expression", texts.expressions, lambda: texts.PREDICATES),
    Target("cron", texts.schedules, lambda: texts.SCHEDULES),
    Target("event-pattern", texts.patterns, lambda: texts.PATTERNS),
    Target("event", texts.events, lambda: texts.EVENTS),
    Target("schema", texts.schemas, lambda: texts.SCHEMAS),
)
