"""Clients of AWS's services, one for each process and address, and their errors in our words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from gluepot.connectors.aws.errors import from_answer
from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError, TransientError

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from botocore.session import Session

CONNECT_SECS, ANSWER_SECS = 5.0, 30.0
CONNECTIONS = 16
USER_AGENT = "gluepot"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is, and as whom it is called.

    Args:
        region: empty for the environment's region.
        endpoint: URL of the service; empty for the environment's endpoint, or the service's own.
        role: ARN of a role to assume; empty to use the environment's credentials.
        role_session: name of our session in the logs of the role's account.
    """

    region: str = ""
    endpoint: str = ""
    role: str = ""
    role_session: str = "gluepot"

    @classmethod
    def of(cls, given: ScriptOptions, *, region: str = "", role: str = "awsSTSRoleARN") -> Address:
        """Read `region`, `endpointUrl` and the role from a script's options.

        Args:
            given: the options.
            region: of an ARN that the script gives; it takes precedence.
            role: name of the option with the role.
        """
        session = given.text("awsSTSSessionName") or given.text("dynamodb.sts.roleSessionName") or "gluepot"
        return cls(region or given.text("region"), given.text("endpointUrl").rstrip("/"), given.text(role), session)


ADDRESS_OPTIONS = ("region", "endpointUrl", "awsSTSRoleARN", "awsSTSSessionName")


def aws_client(service: str, address: Address) -> Any:
    """Return this process's client of a service; threads may share it. It calls once and retries nothing.

    Raises:
        ConfigError: there is no region, or there are no credentials.
    """
    return _client(service, address, os.getpid())


@cache
def _client(service: str, address: Address, process: int) -> Any:  # noqa: ARG001  a fork opens its own
    import botocore.session  # noqa: PLC0415  few jobs call such a service
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    once = Config(
        retries={"total_max_attempts": 1},
        connect_timeout=CONNECT_SECS,
        read_timeout=ANSWER_SECS,
        max_pool_connections=CONNECTIONS,
        # Two thirds of the work for a call of ten rows are in these two: the service checks parameters itself, and
        # botocore describes its environment in a new text for each request.
        parameter_validation=False,
        user_agent=USER_AGENT,
    )
    session = botocore.session.get_session()
    # botocore itself reads the second variable alone.
    region = address.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    try:
        if address.role:
            session._credentials = _assumed(session, address, region)  # noqa: SLF001  there is no other way
        if session.get_credentials() is None:
            raise ConfigError(
                f"There are no AWS credentials for {service}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or"
                " AWS_PROFILE."
            )
        return session.create_client(service, region_name=region, endpoint_url=address.endpoint or None, config=once)
    except (BotoCoreError, ValueError) as wrong:
        raise ConfigError(
            f"{service} cannot be called ({wrong}); set AWS_REGION, or check the options region and endpointUrl."
        ) from wrong


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn the errors of a client into ours.

    Args:
        where: what is called, for messages, such as `DynamoDB table orders`.

    Raises:
        EtlError: see `from_answer`; TransientError if no answer came, ConfigError if the call could not be made.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415  see above
    from botocore.exceptions import ConnectionError as NoConnection  # noqa: PLC0415

    try:
        yield
    except ClientError as refused:
        raise from_answer(where, cast("dict[str, Any]", refused.response)) from refused
    except (NoConnection, HTTPClientError) as away:
        raise TransientError(f"{where} does not answer ({away}); is it reachable?") from away
    except (BotoCoreError, ValueError) as wrong:
        raise ConfigError(f"{where} cannot be called ({wrong}); check region and credentials.") from wrong


def _assumed(session: Session, address: Address, region: str | None) -> Credentials:
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials  # noqa: PLC0415

    def token_service(name: str, **more: Any) -> Any:
        return session.create_client(name, region_name=region, **more)

    fetcher = AssumeRoleCredentialFetcher(
        client_creator=token_service,
        source_credentials=session.get_credentials(),
        role_arn=address.role,
        extra_args={"RoleSessionName": address.role_session},
    )
    return cast("Credentials", DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role"))
