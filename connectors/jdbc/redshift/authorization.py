"""The clause with which COPY and UNLOAD may use the folder in S3."""

from __future__ import annotations

from gluepot.core.errors import ConfigError


def authorization(iam_role: str) -> str:
    """Return the clause for a role; without one, for the job's own AWS credentials. Never print it.

    Args:
        iam_role: ARN, or `default`; empty for the job's credentials.

    Raises:
        ConfigError: there is no role, and the environment has no AWS credentials.
    """
    if iam_role:
        return "IAM_ROLE default" if iam_role == "default" else f"IAM_ROLE '{iam_role}'"
    from botocore.session import get_session  # noqa: PLC0415  it loads slowly

    found = get_session().get_credentials()
    if found is None:
        raise ConfigError("Redshift has no right to the temporary folder; give aws_iam_role, or AWS credentials.")
    keys = found.get_frozen_credentials()
    return with_keys(keys.access_key, keys.secret_key, keys.token)


def with_keys(access_key: str, secret_key: str, token: str | None) -> str:
    """Return the clause for AWS credentials. For Parquet, COPY takes them in this form only."""
    given = f"aws_access_key_id={access_key};aws_secret_access_key={secret_key}"
    return f"CREDENTIALS '{given};token={token}'" if token else f"CREDENTIALS '{given}'"
