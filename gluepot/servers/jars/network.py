"""Java options that make a JVM reach the network the way Python on this machine does."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from gluepot.servers.jars.truststore import jks

DEFAULT_PROXY_PORTS = {"http": 80, "https": 443}


def jvm_network_options(folder: Path) -> list[str]:
    """Return the options; writes a trust store into `folder` where Python knows its authorities."""
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    options = proxy_options(getproxies())
    if certificates:
        store = folder / "truststore.jks"
        store.write_bytes(jks(certificates))
        options.append(f"-Djavax.net.ssl.trustStore={store}")
    return options


def proxy_options(proxies: Mapping[str, str]) -> list[str]:
    """Translate proxies for Java.

    Args:
        proxies: as `urllib.request.getproxies` returns them, e.g. `{"https": "http://proxy:3128", "no": "a,b"}`.
    """
    options = []
    for scheme in ("http", "https"):
        proxy = urlsplit(proxies.get(scheme, ""))
        if proxy.hostname:
            port = proxy.port or DEFAULT_PROXY_PORTS.get(proxy.scheme, 80)
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={port}"]
    exempt = [host.strip() for host in proxies.get("no", "").split(",") if host.strip()]
    if options and exempt:
        # A leading dot means "and all below" in no_proxy; Java writes that with an asterisk.
        options.append("-Dhttp.nonProxyHosts=" + "|".join(f"*{h}" if h.startswith(".") else h for h in exempt))
    return options
