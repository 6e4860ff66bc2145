"""Each parser keeps its rules for its seeds, for inputs that earlier runs of the fuzzer found, and for edits of them."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.targets import CORPUS, FOUND, TARGETS
from tests.unit.hostile.records import edited

SEED = 20261126
EDITS = 40


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_each_parser_keeps_the_rules(target):
    inputs = target.inputs
    random = Random(SEED)
    for data in inputs:
        target.check(data)
    for _ in range(EDITS if target.edits else 0):
        target.check(edited(random, random.choice(inputs)))


def test_each_file_of_the_corpus_belongs_to_a_target():
    assert {one.stem for folder in (CORPUS, FOUND) for one in folder.glob("*.txt")} <= {one.name for one in TARGETS}
