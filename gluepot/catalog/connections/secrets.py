"""Secrets kept in AWS Secrets Manager, or in a server that speaks as it does.

Region, credentials and, as `AWS_ENDPOINT_URL_SECRETS_MANAGER` or `AWS_ENDPOINT_URL`, the server come from the
environment, as AWS's own tools take them.
"""

from __future__ import annotations

import json
import os

from gluepot.core.errors import ConfigError, TransientError

_TRY_AGAIN = ("InternalServiceError", "ThrottlingException")


def secret_text(name: str, owner: str) -> str:
    """Return a secret.

    Args:
        name: of the secret, or its ARN.
        owner: who asks, for errors.

    Raises:
        ConfigError: there is no such secret, or it may not be read.
        TransientError: the server does not answer.
    """
    import boto3  # noqa: PLC0415  few connections have such secrets
    from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError  # noqa: PLC0415  as above

    try:
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")  # boto3 reads the second alone
        answer = boto3.client("secretsmanager", region_name=region).get_secret_value(SecretId=name)
        return str(answer["SecretString"])
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _TRY_AGAIN:
            raise TransientError(f"{owner}: the secret {name!r} was not given out ({code})", 5.0) from error
        raise ConfigError(
            f"{owner}: the secret {name!r} cannot be read ({code}); check its name and what this job may read"
        ) from error
    except EndpointConnectionError as error:
        raise TransientError(f"{owner}: Secrets Manager does not answer ({error})", 5.0) from error
    except BotoCoreError as error:
        raise ConfigError(f"{owner}: the secret {name!r} cannot be read ({error})") from error
    except KeyError:
        raise ConfigError(f"{owner}: the secret {name!r} is binary; store a string or JSON") from None


def secret_member(text: str, member: str, name: str, owner: str) -> str:
    """Return one member of a secret that is a JSON object, as the databases' secrets are.

    Raises:
        ConfigError: it is none, or has no such member. The secret is not quoted.
    """
    try:
        plain = json.loads(text)
    except ValueError:
        plain = None
    if not isinstance(plain, dict) or member not in plain:
        raise ConfigError(f"{owner}: the secret {name!r} is not a JSON object with a member {member!r}; add it there")
    return str(plain[member])
