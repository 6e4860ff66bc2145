"""What reaches a push gateway, by a server that takes it as the gateway would."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector

from gluepot.core.errors import ConfigError
from gluepot.ops.push import Ended, checked_gateway, push
from gluepot.streaming.observe.metric_names import AT_END, PREFIX
from gluepot.streaming.observe.metrics import StreamMetrics
from tests.push_gateway import push_gateway

ENDED = Ended(good=True, end_epoch=1_000.0, duration_secs=12.5, rows_out=300, files=4)


@pytest.fixture
def gateway():
    with push_gateway() as opened:
        yield opened


def test_a_push_adds_the_metrics_of_the_run_and_how_it_ended(gateway):
    registry = CollectorRegistry()
    StreamMetrics(registry, "shop").failure("clicks")
    push(gateway.url, "shop", registry, ENDED)
    ((method, path, values),) = gateway.pushes
    assert (method, path) == ("POST", "/metrics/job/shop")  # POST leaves other metrics of the job there, PUT would not
    assert values["gluepot_failures_total"] == 1
    assert {one.name: values[PREFIX + one.name] for one in AT_END} == ENDED.values()


def test_a_gateway_that_refuses_or_is_away_fails_no_run(gateway):
    gateway.status = 500
    push(gateway.url, "shop", CollectorRegistry(), ENDED)
    assert len(gateway.pushes) == 1
    push("http://127.0.0.1:1", "shop", CollectorRegistry(), ENDED)


def test_a_metric_that_cannot_be_had_fails_no_run(gateway):
    class Broken(Collector):
        def describe(self):
            return ()

        def collect(self):
            raise RuntimeError("no such process")

    registry = CollectorRegistry()
    registry.register(Broken())
    push(gateway.url, "shop", registry, ENDED)
    assert gateway.pushes == []


@pytest.mark.parametrize("url", ["", "gateway:9091", "ftp://gateway", "http://"])
def test_an_address_that_is_none_is_told_before_the_run(url):
    with pytest.raises(ConfigError, match=r"give a URL such as http://gateway:9091"):
        checked_gateway(url)
