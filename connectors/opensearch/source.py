"""Reads an index by scrolls, one for each slice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opensearchpy.exceptions import OpenSearchException

from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.documents.reading import chunk_of
from gluepot.connectors.opensearch.client import client_of, explained
from gluepot.connectors.opensearch.settings import ReadSettings
from gluepot.core.errors import PermanentError, TransientError
from gluepot.frames.chunk import Chunk

# The server's own limit for a scroll (index.max_slices_per_scroll).
MOST_SLICES = 1024


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of an index that one task reads.

    Args:
        number: which slice, counted from 0.
        count: number of slices.
        size_bytes: about the size of its documents.
    """

    number: int
    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class OpensearchSource:
    """A `BatchSource` over an index.

    Args:
        settings: of the read.
        guarantee: see `BatchSource`.
    """

    settings: ReadSettings
    guarantee: str = "each document that is there all the time, once, as it is when its slice is begun"

    def read(self, split: Slice) -> Iterator[Chunk]:
        """See `BatchSource`. A document with a value that no column can hold becomes an error record."""
        settings, address = self.settings, self.settings.address
        client = client_of(address)
        with explained(address.where):
            page = client.search(
                body=search_body(settings, split),
                index=address.index,
                params={"scroll": settings.keep_alive, "size": settings.page_documents},
            )
        scroll = page.get("_scroll_id")
        try:
            while hits := self._whole(page):
                yield chunk_of([row_of(one, has_metadata=settings.has_metadata) for one in hits], address.where)
                with explained(address.where):
                    page = client.scroll(body={"scroll_id": scroll, "scroll": settings.keep_alive})
                scroll = page.get("_scroll_id", scroll)
        finally:
            with suppress(OpenSearchException):  # it ends by itself, too
                client.clear_scroll(body={"scroll_id": [scroll]})

    def _whole(self, page: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the documents of a page.

        Raises:
            TransientError: a shard or the time was missing, so that documents may be.
        """
        failed = page.get("_shards", {}).get("failed", 0)
        if failed or page.get("timed_out"):
            raise TransientError(f"{self.settings.address.where} did not answer from {failed} of its shards.")
        hits: list[dict[str, Any]] = page["hits"]["hits"]
        return hits


def search_body(settings: ReadSettings, split: Slice) -> dict[str, Any]:
    """Return the search that begins a slice."""
    body: dict[str, Any] = {"query": json.loads(settings.query), "sort": ["_doc"]}
    if split.count > 1:
        body["slice"] = {"id": split.number, "max": split.count}
    fields = {"includes": list(settings.included), "excludes": list(settings.excluded)}
    if any(fields.values()):
        body["_source"] = {name: value for name, value in fields.items() if value}
    return body


def row_of(hit: Mapping[str, Any], *, has_metadata: bool) -> dict[str, Any]:
    """Return a document as a row; dates are what they are in the document, text or a number."""
    row: dict[str, Any] = hit.get("_source") or {}
    return {**row, "_metadata": {"_index": hit["_index"], "_id": hit["_id"]}} if has_metadata else row


def slices(shards: int, documents: int, documents_a_slice: int | None) -> int:
    """Return into how many slices an index is divided: its shards, or more so that none has too many documents."""
    wanted = -(-documents // documents_a_slice) if documents_a_slice else 0
    return max(1, min(max(shards, wanted), MOST_SLICES))


def planned(settings: ReadSettings) -> BatchRead:
    """Return the read of an index, divided among tasks.

    Raises:
        ConfigError: the index is not there, or may not be read.
        TransientError: the server does not answer.
        PermanentError: the server does not accept the query.
    """
    address = settings.address
    client = client_of(address)
    with explained(address.where):
        indexes = client.indices.get_settings(index=address.index)
        found = client.indices.stats(index=address.index, metric="docs,store")["_all"]["primaries"]
        query = client.indices.validate_query(index=address.index, body={"query": json.loads(settings.query)})
    if not query.get("valid", True):
        raise PermanentError(f"{address.where} does not accept the query {settings.query}; correct opensearch.query.")
    shards = sum(int(one["settings"]["index"]["number_of_shards"]) for one in indexes.values())
    documents = int(found.get("docs", {}).get("count", 0))
    count = slices(shards, documents, settings.documents_a_slice)
    size_bytes = int(found.get("store", {}).get("size_in_bytes", 0)) // count
    return BatchRead(OpensearchSource(settings), tuple(Slice(number, count, size_bytes) for number in range(count)))
