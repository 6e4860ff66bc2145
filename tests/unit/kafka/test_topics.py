"""Topics that a broker does not know, or does not know yet."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.settings import Topics
from gluepot.core.errors import ConfigError, TransientError


def broker(listed: list[str]) -> Broker:
    """A broker whose description of the topic `clicks` says that there is none."""
    made = object.__new__(Broker)
    made._settings = SimpleNamespace(bootstrap="h:1", subscription=Topics(("clicks",)))
    made.partitions = lambda: ({}, [])
    made._all_topics = lambda: listed
    return made


def test_a_topic_that_is_nowhere_is_refused():
    with pytest.raises(ConfigError, match=r"has no topic clicks; its topics are: click\. Did you mean 'click'\?"):
        broker(["click", "__consumer_offsets"]).require_topics()


def test_a_topic_that_brokers_do_not_agree_about_is_asked_for_again():
    with pytest.raises(TransientError, match="did not know clicks a moment ago"):
        broker(["clicks"]).require_topics()
