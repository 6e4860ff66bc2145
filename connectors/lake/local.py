"""Reads the settings of the local catalog from the environment, and applies and logs the mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gluepot.connectors.lake.catalogs import LocalCatalog, file_io, mapped, names_aws
from gluepot.connectors.lake.database import jdbc_database
from gluepot.core.clock import SystemClock
from gluepot.core.logging import get_logger
from gluepot.core.option_values import is_true
from gluepot.core.private import make_private_folder
from gluepot.core.statedir import state_root

AWS = "GLUEPOT_AWS"
"""`true` where the catalogs of AWS are meant."""

WAREHOUSE = "GLUEPOT_WAREHOUSE"
"""A folder that stands for S3 in the warehouses of catalogs, with a folder below it for each bucket."""

_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")

log = get_logger(__name__)


def localized(conf: Mapping[str, str], environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings that replace AWS in a run's Iceberg catalogs, and log what they change.

    Returns no settings if the environment says that the catalogs of AWS are meant.

    Args:
        conf: Spark settings.
        environ: the driver's environment.

    Raises:
        ConfigError: Java cannot reach the database of the Data Catalog.
    """
    if is_true(environ.get(AWS)) or not names_aws(conf):
        return {}
    from gluepot.catalog.connect import catalog_url, shared_catalog  # noqa: PLC0415  SQLAlchemy takes half a second

    made = mapped(conf, local_catalog(environ))
    for one in made.catalogs:
        shared_catalog(catalog_url(environ), SystemClock()).add_namespaces(one.name)
        log.info(
            "catalog_mapped",
            catalog=one.name,
            was=one.was,
            now=one.uri,
            warehouse=one.warehouse,
            left_out=list(one.left_out),
        )
    return made.settings


def local_catalog(environ: Mapping[str, str]) -> LocalCatalog:
    """Return the catalog in the database of the Data Catalog, after creating the state folder.

    Raises:
        ConfigError: Java cannot reach it.
    """
    from gluepot.catalog.connect import catalog_url  # noqa: PLC0415  SQLAlchemy takes half a second to load

    make_private_folder(state_root(environ))
    database = jdbc_database(catalog_url(environ))
    folder = warehouse(environ)
    return LocalCatalog(
        uri=database.uri,
        warehouse=str(folder),
        user=database.user,
        password=database.password,
        buckets=str(folder) if environ.get(WAREHOUSE) else None,
        own_s3=_has_own_s3(environ),
    )


def file_io_at(url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with which Iceberg reads a file at a URL."""
    return file_io(url, {}, own_s3=_has_own_s3(environ))


def _has_own_s3(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in _S3_ENDPOINTS)


def warehouse(environ: Mapping[str, str]) -> Path:
    """Return the folder for tables that have no location of their own."""
    given = environ.get(WAREHOUSE)
    return Path(given).expanduser().absolute() if given else state_root(environ) / "warehouse"
