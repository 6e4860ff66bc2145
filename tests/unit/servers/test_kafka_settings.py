from __future__ import annotations

from pathlib import Path

from gluepot.servers.kafka_settings import broker_settings, properties

SETTINGS = broker_settings(20001, 20002, Path("/data"))


def test_broker_listens_on_loopback_alone():
    assert SETTINGS["listeners"] == "PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002"


def test_every_internal_topic_has_one_copy():
    copies = {value for name, value in SETTINGS.items() if name.endswith((".replication.factor", ".min.isr"))}
    assert copies == {"1"}


def test_topics_are_never_made_by_accident():
    assert SETTINGS["auto.create.topics.enable"] == "false"


def test_records_of_ten_megabytes_fit():
    assert int(SETTINGS["message.max.bytes"]) > 10 << 20


def test_backslash_survives_javas_properties_format():
    assert properties({"log.dirs": r"C:\data"}) == "log.dirs=C:\\\\data\n"
