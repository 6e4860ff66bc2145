"""Clients of a running service.

One of them checks each answer against the shape of AWS's model, and refuses members that the model does not know.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import boto3
from botocore.model import ListShape, MapShape, StructureShape

from gluepot.service.server import client_environment
from gluepot.service.wire import shapes

SERVE = (sys.executable, "-m", "gluepot", "serve")


def check_answer(operation: str, answer: dict) -> None:
    """Fail if an answer breaks the output shape of its operation."""
    shape = shapes.model_of("glue").operation_model(operation).output_shape
    found = [*shapes.violations(shape, answer), *_unknown(shape, answer, operation)]
    assert not found, f"{operation} answered what AWS cannot answer: {found}"


def client_with(environ, name="glue", **options):
    """Return a client of a service of AWS that is configured by environment variables, such as a shell has."""
    return boto3.client(
        name,
        endpoint_url=environ["AWS_ENDPOINT_URL_GLUE"],
        region_name=environ["AWS_DEFAULT_REGION"],
        aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
        **options,
    )


def client_of(serving, name="glue", **options):
    """Return a client of a running service."""
    return client_with(client_environment(serving.url, serving.region, serving.key), name, **options)


def checking_client(serving, **options):
    """Return a client of a running service that checks every answer before it is read."""
    client = client_of(serving, **options)
    client.meta.events.register("before-parse.glue", _check_before_it_is_read)
    return client


def _check_before_it_is_read(operation_model, response_dict, **_):
    if response_dict["status_code"] == 200:
        check_answer(operation_model.name, json.loads(response_dict["body"]))


def _unknown(shape, value, path):
    if isinstance(shape, StructureShape):
        for name, one in value.items():
            if name not in shape.members:
                yield f"{path}.{name} is no member of {shape.name}"
            elif one is None:
                yield f"{path}.{name} is null; leave it out"
            else:
                yield from _unknown(shape.members[name], one, f"{path}.{name}")
    elif isinstance(shape, ListShape):
        for at, one in enumerate(value):
            yield from _unknown(shape.member, one, f"{path}.{at}")
    elif isinstance(shape, MapShape):
        for key, one in value.items():
            yield from _unknown(shape.value, one, f"{path}.{key}")


def started(environ, *options, **how):
    """Start a service in a process of its own; return the process, and what it prints when it listens."""
    command = [*SERVE, "--port", "0", *options]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, **how)
    return process, process.stdout.readline()


def url_in(said):
    """Return the endpoint in what a service prints when it listens."""
    return re.search(r"http://[^ ;]+", said)[0]


def shell_of(environ):
    """Return the environment variables that `gluepot serve env` prints."""
    lines = subprocess.run([*SERVE, "env"], env=environ, capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(line.removeprefix("export ").split("=", 1) for line in lines)
