"""What can be said of the example deployments without an engine: images, mounts, health, metrics they ask for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from gluepot.job.options import RunOptions
from gluepot.ops.access import checked_token
from gluepot.service.server import DEFAULT_PORT
from tests.exposed import exposed
from tests.image_replay import tmpfs_options

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
ONE_SHOT = {
    name
    for one in SERVICES.values()
    for name, how in one.get("depends_on", {}).items()
    if "completed" in how["condition"]
}
PAIRS = [pytest.param(name, one, id=name) for name, one in SERVICES.items()]


def mounts(service):
    """Host path and container path of what a service mounts from the repository."""
    parts = [volume.split(":") for volume in service.get("volumes", [])]
    return {inside[0]: DEPLOY / path for path, *inside in parts if path.startswith(".")}


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_every_image_is_pinned_to_a_version(name, service):
    assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])


def test_localstack_is_the_last_one_that_runs_without_a_token():
    assert SERVICES["localstack"]["image"] == "localstack/localstack:4.14.0"


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_every_service_that_stays_says_how_it_is(name, service):
    assert ("healthcheck" in service) != (name in ONE_SHOT)


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_who_waits_waits_for_a_service_that_is_there_and_can_be_waited_for(name, service):
    for other, how in service.get("depends_on", {}).items():
        ends = how["condition"] == "service_completed_successfully"
        assert ends == ("healthcheck" not in SERVICES[other])


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_ports_are_open_to_this_machine_only(name, service):
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_what_is_mounted_is_in_the_repository(name, service):
    assert all(path.exists() for path in mounts(service).values())
    assert all(secret in COMPOSE["secrets"] for secret in service.get("secrets", []))


def test_the_token_is_one_that_a_job_accepts():
    path = DEPLOY / COMPOSE["secrets"]["ops_token"]["file"]
    assert checked_token("0.0.0.0", f"file:{path}", {}) == path.read_text().strip()


@pytest.mark.parametrize(("name", "service"), PAIRS)
def test_libraries_that_java_unpacks_may_execute(name, service):
    assert all("noexec" not in tmpfs_options(entry).split(",exec")[-1] for entry in service.get("tmpfs", []))


def test_a_job_reads_the_stream_that_is_made_and_writes_to_the_bucket_that_is_made():
    made, job = " ".join(SERVICES["aws"]["command"]), SERVICES["kinesis"]
    given = dict(token[2:].split("=", 1) for token in job["command"] if token.startswith("--") and "=" in token)
    assert f"create-stream --stream-name {given['stream_arn'].rpartition('/')[2]} " in made
    assert f"create-bucket --bucket {given['output_path'].split('/')[2]})" in made
    assert job["depends_on"]["aws"]["condition"] == "service_completed_successfully"
    script = Path(job["command"][1])
    asked = re.search(
        r"getResolvedOptions\(sys.argv, (\[.*?\])\)", (DEPLOY.parent / "examples" / script.name).read_text()
    )
    assert set(json.loads(asked[1])) == given.keys()


@pytest.mark.parametrize("name", ["job", "kinesis"])
def test_the_jobs_are_started_with_options_that_they_have(name):
    own = [token for token in SERVICES[name]["command"] if token.startswith("--")]
    given = {token[2:].partition("=")[0].replace("-", "_") for token in own[: own.index("--")]}
    assert given <= set(RunOptions.__slots__)


def test_prometheus_reads_the_alerts_and_scrapes_the_job_and_the_service():
    inside = mounts(SERVICES["prometheus"])
    config = yaml.safe_load(inside["/etc/prometheus/prometheus.yml"].read_text())
    assert inside[config["rule_files"][0]] == DEPLOY / "prometheus/alerts.yaml"
    scrape, of_service = config["scrape_configs"]
    assert scrape["honor_labels"]
    host, _, port = scrape["static_configs"][0]["targets"][0].partition(":")
    assert SERVICES[host]["environment"]["GLUEPOT_METRICS_PORT"] == port
    assert of_service["static_configs"][0]["targets"] == [f"glue:{DEFAULT_PORT}"]
    assert SERVICES["glue"]["ports"] == [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]


def test_grafana_is_provisioned_with_the_boards_and_their_source():
    inside = mounts(SERVICES["grafana"])
    provisioning = inside["/etc/grafana/provisioning"]
    (provider,) = yaml.safe_load((provisioning / "dashboards/gluepot.yaml").read_text())["providers"]
    boards = inside[provider["options"]["path"]]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (boards / Path(home).name).is_file()
    (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"


def test_keda_asks_for_metrics_that_are_exposed():
    triggers = yaml.safe_load((DEPLOY / "kubernetes/keda.yaml").read_text())["spec"]["triggers"]
    asked = {name for one in triggers for name in re.findall(r"gluepot_\w+", one["metadata"].get("query", ""))}
    assert asked
    assert asked <= exposed(opt_in=False).keys()


def test_the_autoscaler_asks_for_a_metric_that_is_exposed_and_that_its_rule_names():
    text = (DEPLOY / "kubernetes/hpa.yaml").read_text()
    (metric,) = yaml.safe_load(text)["spec"]["metrics"]
    name = metric["external"]["metric"]["name"]
    assert name in exposed(opt_in=False)
    assert f"seriesQuery: '{{__name__=\"{name}\"}}'" in text
