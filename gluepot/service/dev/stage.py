"""The servers beside a service for development."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gluepot.core.environment import environment
from gluepot.servers.s3 import S3Server
from gluepot.service.keys import own_key
from gluepot.service.server import DEFAULT_REGION, key_path

BUCKET = "gluepot"


@dataclass(frozen=True, slots=True)
class Stage:
    """What a service for development has beside it.

    Args:
        s3: its S3.
        environ: the environment for the service, whose runs inherit it.
        shell: the part of it that a shell needs to reach the same data.
    """

    s3: S3Server
    environ: Mapping[str, str]
    shell: Mapping[str, str]


@contextmanager
def development_stage(environ: Mapping[str, str]) -> Iterator[Stage]:
    """Run an S3 with one bucket for as long as the context lasts.

    Args:
        environ: says where the state folder is.

    Raises:
        ConfigError: the emulator is not installed.
    """
    key = own_key(key_path(environ))
    with S3Server(key_path(environ).parent / "s3") as s3:
        s3.make_bucket(BUCKET)
        # No key and no endpoint of the user's own: whatever goes wrong, no account is reached.
        shell = {"AWS_ENDPOINT_URL_S3": s3.url}
        own = {"AWS_ACCESS_KEY_ID": key.id, "AWS_SECRET_ACCESS_KEY": key.secret, "AWS_REGION": DEFAULT_REGION}
        kept = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
        with environment({**own, **shell}):  # of the service itself, which fetches scripts
            yield Stage(s3, {**kept, **own, **shell}, shell)
