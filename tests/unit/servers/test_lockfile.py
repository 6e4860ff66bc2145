from __future__ import annotations

from dataclasses import replace

import pytest

from gluepot.core.errors import ConfigError
from gluepot.servers.jars.lockfile import JarSet, LockedJar, Module, dump_lock, find_set, lock_path, parse_lock

KAFKA = Module("org.apache.kafka", "kafka_2.13", "4.1.0")
YAML = Module("org.yaml", "snakeyaml", "2.4")
SET = JarSet(roots=(KAFKA,), transitive=True, jars=(LockedJar(KAFKA, "aa"), LockedJar(YAML, "bb")))


def test_lock_is_read_as_it_was_written():
    assert parse_lock(dump_lock({"broker": SET})) == {"broker": SET}


def test_groups_that_are_left_out_stay_left_out():
    without = replace(SET, without=("org.apache.orc",))
    assert parse_lock(dump_lock({"connect": without})) == {"connect": without}


def test_lock_text_does_not_depend_on_order():
    turned = JarSet(SET.roots, SET.transitive, tuple(reversed(SET.jars)))
    assert dump_lock({"a": SET, "b": turned}) == dump_lock({"b": SET, "a": SET})


@pytest.mark.parametrize("text", ["", "[]", '{"a": {}}', '{"a": {"roots": ["x"], "transitive": true, "jars": {}}}'])
def test_text_that_is_no_lock_is_a_config_error(text):
    with pytest.raises(ConfigError, match="jar"):
        parse_lock(text)


def test_unknown_set_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"use one of kafka-broker\. Did you mean 'kafka-broker'\?"):
        find_set({"kafka-broker": SET}, "kafka-brocker")


def test_archive_lies_where_its_coordinates_say():
    assert str(KAFKA.path) == "org.apache.kafka/kafka_2.13/4.1.0/kafka_2.13-4.1.0.jar"


def test_a_classifier_is_part_of_the_name():
    tests = Module.parse("org.apache.spark:spark-sql_2.13:4.1.1:tests")

    assert str(tests) == "org.apache.spark:spark-sql_2.13:4.1.1:tests"
    assert tests.path.name == "spark-sql_2.13-4.1.1-tests.jar"


@pytest.mark.parametrize("name", ["kafka-broker", "spark-kafka"])
def test_shipped_lock_has_every_root_of_its_sets(name):
    jars = parse_lock(lock_path().read_text())[name]
    assert set(jars.roots) <= {jar.module for jar in jars.jars}
