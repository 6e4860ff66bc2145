"""A plugin of pytest: moto's tests talk to Gluepot's service in place of moto, one new service for each test.

It replaces `moto.mock_aws`, so it has to be loaded before the tests are. Inputs that stand for anything, such as a
command without a script, are completed, because the service checks them as AWS does. The clock of the service cannot be
set, so tests that set it are skipped.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import boto3
import botocore.session
import moto
import moto.core
import pytest

from gluepot.core.clock import SystemClock
from gluepot.service.server import ACCOUNT, ServeOptions, client_environment, service

_is_served = False


@contextmanager
def _served() -> Iterator[None]:
    """Serve with an empty database, and let clients find the service; within such a block there is one already."""
    global _is_served  # noqa: PLW0603  `mock_aws` is nested now and then
    if _is_served:
        yield
        return
    before, _is_served, boto3.DEFAULT_SESSION = dict(os.environ), True, None
    try:
        with tempfile.TemporaryDirectory() as state:
            environ = {**os.environ, "GLUEPOT_STATE": state}
            with service(ServeOptions(port=0), environ, SystemClock()) as serving:
                os.environ.update(client_environment(serving.url, serving.region, serving.key))
                yield
                serving.stop()
    finally:
        _is_served = False
        os.environ.clear()
        os.environ.update(before)


def mock_aws(test: Callable[..., Any] | None = None, **_: Any) -> Any:
    """Stand for `moto.mock_aws`: a decorator of functions, or a context."""
    if test is None:
        return _served()

    @functools.wraps(test)
    def served(*arguments: Any, **named: Any) -> Any:
        with _served():
            return test(*arguments, **named)

    return served


def freeze_time(*_: Any, **__: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Stand for `freezegun.freeze_time`."""
    return lambda test: functools.wraps(test)(lambda *_, **__: pytest.skip("the service has a clock of its own"))


def complete(params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
    """Complete the parameters of a call where a test gives something that stands for anything."""
    if model.name == "CreateJob":
        command = params.get("Command", {})
        name = command.get("Name")
        known = name if name in {"glueetl", "gluestreaming", "pythonshell"} else "glueetl"
        params["Command"] = {"ScriptLocation": "s3://bucket/script.py", **command, "Name": known}
    if model.name == "CreateCrawler":
        params = {"DatabaseName": "any", **params}
        if not any(params.get("Targets", {}).values()):
            params["Targets"] = {"S3Targets": [{"Path": "s3://bucket/folder"}]}
    return params


def _create_client(self: Any, *arguments: Any, **named: Any) -> Any:
    client = _plain_create_client(self, *arguments, **named)
    client.meta.events.register("provide-client-params.glue", complete)
    return client


_plain_create_client = botocore.session.Session.create_client
botocore.session.Session.create_client = _create_client
moto.mock_aws, moto.core.DEFAULT_ACCOUNT_ID = mock_aws, ACCOUNT
sys.modules["freezegun"] = ModuleType("freezegun")
vars(sys.modules["freezegun"])["freeze_time"] = freeze_time
