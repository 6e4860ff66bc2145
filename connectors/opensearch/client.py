"""Clients of OpenSearch, one for each process and address, and its errors in our terms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import OpenSearchException, TransportError

from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.opensearch.settings import Address
from gluepot.core.errors import ConfigError, EtlError, TransientError

ANSWER_SECS = 60
AWAY = frozenset({408, 429, 502, 503, 504})
"""Statuses that pass: a full queue, a node that starts or is away."""
NOT_ALLOWED = frozenset({401, 403})


def client_of(address: Address) -> OpenSearch:
    """Return the client of this process; connections are opened on first use."""
    return _client(address, os.getpid())


@cache
def _client(address: Address, process: int) -> OpenSearch:  # noqa: ARG001  a fork opens its own
    return OpenSearch(
        list(address.nodes),
        http_auth=(address.user, address.password) if address.user else None,
        verify_certs=address.checks_certificates,
        ssl_show_warn=False,
        timeout=ANSWER_SECS,
        max_retries=0,  # calls are repeated by their callers
        pool_maxsize=10,
    )


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn the client's errors inside the block into ours.

    Raises:
        TransientError: the server is away, or has too much to do.
        ConfigError: the user or the permission is wrong, or the index is not there.
        Refused: the server does not accept the call.
    """
    try:
        yield
    except NoConnection as away:
        raise TransientError(f"{where} does not answer ({str(away.error)[:300]}).") from away
    except TransportError as failure:
        status = failure.status_code if isinstance(failure.status_code, int) else 0
        raise of_answer(status, _said(failure), where) from failure
    except OpenSearchException as other:
        raise Refused(f"{where} does not accept the call ({other}).", str(other)) from other


def of_answer(status: int, said: str, where: str) -> EtlError:
    """Return what an answer means that reports a failure.

    Args:
        status: HTTP status.
        said: type and reason of the error.
        where: the index.
    """
    told = f"HTTP {status}: {said}"
    if status in AWAY:
        return TransientError(f"{where} cannot do it for now ({told}).")
    if status in NOT_ALLOWED:
        return ConfigError(f"{where} may not be used so ({told}); check user, password and roles.")
    if status == 404:
        return ConfigError(f"{where} is not there ({told}); create it, or correct opensearch.resource.")
    return Refused(f"{where} does not accept the call ({told}).", told)


def _said(failure: TransportError) -> str:
    info = failure.info
    error = info.get("error") if isinstance(info, dict) else None
    if isinstance(error, dict):
        return f"{error.get('type')}: {str(error.get('reason'))[:300]}"
    return str(failure.error)[:300]
