"""Objects of S3 by their storage class: `excludeStorageClasses` (docs/glue 5.1).

The listings of obstore do not tell it, so the folder is listed again, by boto3, where a script asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.storage import S3Root, parse_url

CLASSES = (
    "STANDARD",
    "STANDARD_IA",
    "ONEZONE_IA",
    "INTELLIGENT_TIERING",
    "REDUCED_REDUNDANCY",
    "GLACIER",
    "GLACIER_IR",
    "DEEP_ARCHIVE",
    "EXPRESS_ONEZONE",
    "OUTPOSTS",
    "SNOW",
)


def read_classes(given: object) -> frozenset[str]:
    """Return the classes of the option: a list, or a text with commas.

    Raises:
        ConfigError: one of them is none of S3's.
    """
    if isinstance(given, str):
        given = [name.strip(" \"'") for name in given.strip("[] ").split(",")]
    if not isinstance(given, Sequence | set | frozenset | None):
        raise ConfigError(f"excludeStorageClasses is {given!r}; give a list of S3's storage classes.")
    names = frozenset(str(name).upper() for name in given or () if str(name))
    if unknown := names - set(CLASSES):
        raise ConfigError(f"excludeStorageClasses has {min(unknown)!r}; S3's storage classes are {', '.join(CLASSES)}.")
    return names


def keys_of_classes(url: str, classes: frozenset[str]) -> frozenset[str]:
    """Return the keys below a root, relative to it, whose objects are of the given classes; none on a local disk.

    Raises:
        ConfigError: the bucket may not be listed.
        TransientError: the storage was away.
    """
    root = parse_url(url)
    if not classes or not isinstance(root, S3Root):
        return frozenset()
    prefix = f"{root.prefix}/" if root.prefix else ""
    return frozenset(
        key[len(prefix) :] for key, storage_class in _listed(root.bucket, prefix) if storage_class in classes
    )


def _listed(bucket: str, prefix: str) -> Iterator[tuple[str, str]]:
    import boto3  # noqa: PLC0415  few reads ask for storage classes
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  as above

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")  # boto3 reads the second alone
    try:
        pages = boto3.client("s3", region_name=region).get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=bucket, Prefix=prefix):
            for found in page.get("Contents", ()):
                yield found["Key"], found.get("StorageClass", "STANDARD")
    except ClientError as error:
        raise ConfigError(f"s3://{bucket}/{prefix} cannot be listed ({error}); check the rights of the job") from error
    except BotoCoreError as error:
        raise TransientError(f"s3://{bucket}/{prefix} does not answer ({error})", 5.0) from error
