from __future__ import annotations

from gluepot.servers.jars.network import proxy_options


def test_no_proxy_means_no_options():
    assert proxy_options({"no": "localhost"}) == []


def test_proxy_is_split_into_host_and_port():
    assert proxy_options({"https": "http://user@proxy.example:3128"}) == [
        "-Dhttps.proxyHost=proxy.example",
        "-Dhttps.proxyPort=3128",
    ]


def test_proxy_without_a_port_has_its_schemes_port():
    assert proxy_options({"http": "http://proxy.example"})[1] == "-Dhttp.proxyPort=80"


def test_exempt_domains_get_javas_asterisk():
    options = proxy_options({"http": "http://proxy:1", "no": "localhost, .corp.example"})
    assert options[-1] == "-Dhttp.nonProxyHosts=localhost|*.corp.example"
