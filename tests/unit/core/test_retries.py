from __future__ import annotations

import json

import pytest
import stamina

from gluepot.core import logging as logs
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.retries import attempts


def test_retries_are_told_in_our_words(capsys):
    logs.configure(json=True)
    tries = 0
    with stamina.set_testing(True, attempts=3):
        for attempt in attempts(30, 5):
            with attempt:
                tries += 1
                if tries < 3:
                    raise TransientError("Kafka at b:1 sent nothing.")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["msg"], line["attempt"], line["reason"]) for line in lines] == [
        ("tried_again", 1, "Kafka at b:1 sent nothing."),
        ("tried_again", 2, "Kafka at b:1 sent nothing."),
    ]


def test_another_error_ends_the_attempts():
    with pytest.raises(ConfigError):  # noqa: PT012  an attempt is a context of its own
        for attempt in attempts(30, 5):
            with attempt:
                raise ConfigError("no such topic")
