"""The process of a crawl that the service starts: it reads a request, crawls, and tells as crawlers of AWS do."""

from __future__ import annotations

import json

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database
from gluepot.core.clock import FakeClock
from gluepot.crawl.__main__ import RESULT, main


def test_a_classifier_that_was_deleted_is_named_and_the_crawl_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    url, clock = f"sqlite:///{tmp_path}/catalog.db", FakeClock(0.0)
    catalog = open_catalog(url, clock)
    catalog.add_database(Database("web"))
    (tmp_path / "lake" / "orders").mkdir(parents=True)
    (tmp_path / "lake" / "orders" / "a.json").write_text('{"id": 1}\n')
    kept = {"CsvClassifier": {"Name": "kept", "Delimiter": ";"}}
    targets = {"S3Targets": [{"Path": str(tmp_path / "lake")}]}
    crawler = {"Name": "daily", "DatabaseName": "web", "Targets": targets, "Classifiers": ["kept", "gone"]}
    (tmp_path / "request.json").write_text(json.dumps({"id": "c1", "crawler": crawler, "classifiers": [kept]}))

    assert main(["request.json"], {"GLUEPOT_CATALOG": url}, clock) == 0

    warned = [line for line in capsys.readouterr().out.splitlines() if "WARN" in line]
    assert warned == ["[c1] WARN : Classifier gone was deleted; the crawl goes on without it. Name another one."]
    assert json.loads((tmp_path / RESULT).read_text())["tables"] == {"created": 1, "updated": 0, "deleted": 0}
    catalog.close()
