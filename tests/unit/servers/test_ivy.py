from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from gluepot.servers.jars.ivy import first_error, module_xml, settings_xml
from gluepot.servers.jars.lockfile import Module

KAFKA = Module("org.apache.kafka", "kafka_2.13", "4.1.0")


def test_settings_have_our_cache_and_one_resolver_that_names_no_host():
    root = fromstring(settings_xml(Path("/c & d"), transitive=True))
    assert root.find("caches").get("defaultCacheDir") == "/c & d"
    assert [sorted(resolver.keys()) for resolver in root.find("resolvers")] == [
        ["m2compatible", "name", "useMavenMetadata", "usepoms"],
    ]


def test_locked_fetch_reads_no_descriptors():
    root = fromstring(settings_xml(Path("/c"), transitive=False))
    assert root.find("resolvers/ibiblio").get("usepoms") == "false"


def test_module_file_asks_for_exactly_the_modules():
    root = fromstring(module_xml([KAFKA], transitive=False))
    asked = [(d.get("org"), d.get("name"), d.get("rev"), d.get("transitive")) for d in root.iter("dependency")]
    assert asked == [("org.apache.kafka", "kafka_2.13", "4.1.0", "false")]


def test_module_file_names_the_archive_of_a_classifier():
    tests = Module("org.apache.spark", "spark-sql_2.13", "4.1.1", "tests")
    (archive,) = fromstring(module_xml([tests], transitive=False)).iter("artifact")
    assert archive.get("{http://ant.apache.org/ivy/maven}classifier") == "tests"


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            "resolving\n:::: WARNINGS\n\tnot found\n\n:::: ERRORS\n\tServer access error\n\tanother\n",
            "Server access error",
        ),
        (":::: WARNINGS\n\tHost not found\n\n:: USE VERBOSE\n", "Host not found"),
        ("Error: could not open ivy.jar\n", "Error: could not open ivy.jar"),
        (":::: ERRORS\n", ":::: ERRORS"),
        ("", "Ivy said nothing"),
    ],
)
def test_the_line_that_tells_most_is_taken_from_the_log(log, told):
    assert first_error(log) == told
