"""The model of the commit protocol holds, refutes what is wrong, and allows what the real code does."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gluepot.core.storage import Storage
from tests.model.recording import Entry, RecordingStorage, accepted, build, joined
from tests.unit.commit import explore, messages
from tests.unit.commit import test_commit_model as wrong

pytestmark = pytest.mark.skipif(
    shutil.which("cargo") is None, reason="the model is written in Rust: install cargo (Debian: apt-get install cargo)"
)


@pytest.fixture(scope="module")
def program() -> Path:
    return build()


def run(program: Path, what: str) -> str:
    done = subprocess.run([program, what], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_property_holds_in_all_states_of_the_small_worlds(program):
    said = run(program, "small").splitlines()
    assert len(said) == 10
    assert all(" states, longest path " in line for line in said)


@pytest.mark.long
def test_every_property_holds_in_all_states_of_the_large_worlds(program):
    assert "VIOLATED" not in run(program, "large")


def test_each_wrong_version_of_the_protocol_is_refuted_by_a_trace(program):
    said = run(program, "wrong").splitlines()
    assert len(said) == 24
    assert all(" steps it is not true that " in line for line in said)


class Logs:
    """The logs of many situations, by what happens in them."""

    def __init__(self) -> None:
        self.by_situation: defaultdict[str, list[Entry]] = defaultdict(list)

    def watch(self, where: str, driver: str, storage: Storage) -> Storage:
        return RecordingStorage(storage, self.by_situation[where], driver)


@pytest.mark.parametrize(
    ("situations", "at_least"),
    [
        (explore.taken_over_while_recovering, 30),
        (explore.rewound, 16),
        (explore.woken_by_a_rewind, 100),
        (messages.another_order, 400),
        pytest.param(explore.two_drivers, 1000, marks=pytest.mark.long),
        pytest.param(explore.three_drivers, 2400, marks=pytest.mark.long),
        pytest.param(messages.one_fault, 3000, marks=pytest.mark.long),
    ],
)
def test_the_model_allows_what_the_real_code_does(program, situations: Callable[..., int], at_least: int):
    logs = Logs()
    situations(logs.watch)
    ok, said = accepted(program, joined(logs.by_situation))
    assert ok, said
    assert len(logs.by_situation) >= at_least


@pytest.mark.parametrize(
    ("version", "situations", "why"),
    [
        (wrong.no_intent, explore.rewound, "a file is moved only while an intent names it"),
        (wrong.manifest_before_files, explore.rewound, "a manifest is created only after its files are in place"),
        (
            wrong.token_checked_before_and_not_in_the_create,
            explore.rewound,
            "a manifest is created exclusively, never written over",
        ),
        (wrong.names_without_token, explore.rewound, "an intent names files of its own generation and token only"),
        (wrong.no_token, explore.two_drivers, "an earlier driver supersedes nothing of a later one"),
        (
            wrong.files_removed_before_the_generation_is_taken,
            messages.another_order,
            "a file is removed only after its generation is taken",
        ),
    ],
)
def test_the_model_rejects_what_a_wrong_version_does(monkeypatch, program, version, situations, why):
    version(monkeypatch)
    logs = Logs()
    with suppress(explore.Violation, FileNotFoundError):  # the log shows it even where no harm is done
        situations(logs.watch)
    ok, said = accepted(program, joined(logs.by_situation))
    assert not ok
    assert why in said
