"""Looks at this machine for `gluepot doctor`. It changes nothing, and asks only servers that the user named."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from urllib.parse import urlsplit

from gluepot.catalog.connections import Connection, load
from gluepot.cli.doctor.judge import Check, Endpoint, endpoints, of_clock, of_compiled_modules, of_disk, of_endpoint
from gluepot.cli.parts import kernel_is_compiled, version_of
from gluepot.cli.project import current_project
from gluepot.core.cachedir import cache_root
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.statedir import state_root
from gluepot.spark.class_archive import archive_path
from gluepot.spark.java import ensure_java

_ANSWER_SECS = 2.0
_PYTHONS = ((3, 11), (3, 13))
_LARGEST_PACKAGES = ("pyspark", "pyarrow", "gluepot")


def look(environ: Mapping[str, str], clock: Clock) -> Iterator[Check]:
    """Yield all checks."""
    yield _python()
    yield from _java(environ)
    yield _kernel()
    yield of_compiled_modules(_never_compiled(), forbidden=sys.dont_write_bytecode)
    yield _host_name(environ)
    yield from _folders(environ)
    project, ports, connections_file = _project()
    yield from project
    connections, told = _connections(connections_file)
    yield from told
    yield from _credentials()
    yield from _servers(list(endpoints(environ, connections)), ports, clock)


def _python() -> Check:
    first, last = _PYTHONS
    found = f"{sys.version.split()[0]} at {sys.executable}"
    if first <= sys.version_info[:2] <= last:
        return Check("python", "ok", found)
    return Check("python", "problem", found, "Install Gluepot with Python 3.11, 3.12 or 3.13.")


def _java(environ: Mapping[str, str]) -> Iterator[Check]:
    try:
        java = ensure_java(environ)
    except ConfigError as missing:
        yield Check("java", "problem", "none that Spark can use", str(missing))
        return
    yield Check("java", "ok", f"{java.version} at {java.home} ({java.origin})")
    archive = archive_path(java.version)
    if archive.exists():
        yield Check("class archive", "ok", str(archive))
    else:
        yield Check("class archive", "warning", "none", "Run `gluepot prepare`; jobs then start in half the time.")


def _kernel() -> Check:
    if kernel_is_compiled():
        return Check("json kernel", "ok", "compiled")
    how = "Install a wheel for this platform, or a C compiler and Python's headers, and install Gluepot again."
    return Check("json kernel", "warning", "not compiled; JSON is read three to five times more slowly", how)


def _never_compiled() -> dict[str, Path]:
    """Return the packages whose modules are not stored compiled, and will not be when they are loaded, and where."""
    modules = {name: Path(spec.origin) for name in _LARGEST_PACKAGES if (spec := find_spec(name)) and spec.origin}
    return {
        name: module.parents[1]
        for name, module in modules.items()
        if not Path(cache_from_source(str(module))).exists()
        and (sys.dont_write_bytecode or not os.access(module.parent, os.W_OK))
    }


def _host_name(environ: Mapping[str, str]) -> Check:
    name = socket.gethostname()
    try:
        return Check("host name", "ok", f"{name} is {socket.gethostbyname(name)}")
    except OSError as failed:
        found = f"{name} has no address ({failed.strerror or failed})"
        if environ.get("SPARK_LOCAL_IP"):
            return Check("host name", "ok", f"{found}; SPARK_LOCAL_IP is set")
        return Check("host name", "problem", found, "Set SPARK_LOCAL_IP=127.0.0.1, or add the name to /etc/hosts.")


def _folders(environ: Mapping[str, str]) -> Iterator[Check]:
    for name, folder, variable in (
        ("state folder", state_root(environ), "GLUEPOT_STATE"),
        ("cache folder", cache_root(environ), "GLUEPOT_HOME"),
        ("temporary folder", Path(tempfile.gettempdir()), "TMPDIR"),
    ):
        existing = next(one for one in (folder, *folder.parents) if one.exists())
        try:
            with tempfile.TemporaryFile(dir=existing):
                pass
        except OSError as refused:
            found = f"{folder} cannot be written ({refused.strerror})"
            yield Check(name, "problem", found, f"Let {variable} name a folder that you may write to.")
        else:
            yield of_disk(name, str(folder), shutil.disk_usage(existing).free)


def _project() -> tuple[list[Check], dict[str, int], Path | None]:
    """Return what is to be said of the project file, the ports of its servers, and its connections file."""
    try:
        project = current_project()
    except ConfigError as wrong:
        return [Check("project file", "problem", "cannot be used", str(wrong))], {}, None
    if project is None:
        return [], {}, None
    script, where = project.script, str(project.path)
    if script is not None and not Path(script).is_file():
        found = f"{where} names the script {script}, which is not there"
        checks = [Check("project file", "problem", found, f"Correct run.script in {where}.")]
    else:
        checks = [Check("project file", "ok", f"{where}, for {script or 'no script'}")]
    servers = project.project.servers
    if servers.kinesis is not None and shutil.which("node") is None:
        checks.append(Check("node", "problem", "no node on PATH", "Install Node.js 18 or newer for the emulator."))
    if servers.s3 is not None and version_of("moto") is None:
        checks.append(
            Check("moto", "problem", "not installed", "Run `pip install 'gluepot[dev]'` for the S3 emulator.")
        )
    tables = {"kafka": servers.kafka, "kinesis": servers.kinesis, "s3": servers.s3}
    ports = {name: table.port for name, table in tables.items() if table is not None and table.port}
    return checks, ports, project.options().get("connections")


def _connections(file: Path | None) -> tuple[list[Connection], list[Check]]:
    try:
        found = load(file)
    except ConfigError as wrong:
        return [], [Check("connections", "problem", "cannot be used", str(wrong))]
    if found.source is None:
        return [], []
    names = ", ".join(sorted(found.by_name)) or "none"
    return list(found.by_name.values()), [Check("connections", "ok", f"{found.source} has {names}")]


def _credentials() -> Iterator[Check]:
    import botocore.session  # noqa: PLC0415  it takes its time to load
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415  as above

    session = botocore.session.get_session()
    try:
        credentials, region = session.get_credentials(), session.get_config_variable("region")
    except BotoCoreError as wrong:
        yield Check("aws credentials", "problem", "cannot be read", f"{wrong} Correct AWS_PROFILE or ~/.aws/config.")
        return
    if credentials is None:
        how = "For S3 or Kinesis set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        yield Check("aws credentials", "warning", "none", how)
    else:
        yield Check("aws credentials", "ok", f"from {credentials.method}")
    if region is None:
        yield Check("aws region", "warning", "none", "For S3 or Kinesis set AWS_DEFAULT_REGION.")
    else:
        yield Check("aws region", "ok", region)


def _servers(named: list[Endpoint], ports: Mapping[str, int], clock: Clock) -> Iterator[Check]:
    compared = False
    for one in named:
        failure = _failure(one)
        yield of_endpoint(one, failure, ports)
        if one.url and not failure and not compared:
            behind_secs = _behind_secs(one.url, clock)
            if behind_secs is not None:
                compared = True
                yield of_clock(one.name, behind_secs)
    if not compared:
        yield Check("clock", "ok", "not compared: no HTTP server is named")


def _failure(endpoint: Endpoint) -> str:
    try:
        socket.create_connection((endpoint.host, endpoint.port), timeout=_ANSWER_SECS).close()
    except OSError as failed:
        return failed.strerror or str(failed)
    return ""


def _behind_secs(url: str, clock: Clock) -> float | None:
    """Return how far this clock is behind that of an HTTP server; None if the server does not tell the time."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    asked = kind(parts.netloc, timeout=_ANSWER_SECS)
    try:
        asked.request("HEAD", "/")
        date = asked.getresponse().getheader("Date")
        return None if date is None else parsedate_to_datetime(date).timestamp() - clock.epoch()
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        asked.close()
