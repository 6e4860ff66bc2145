"""A Java trust store with the certificate authorities that Python trusts.

Java brings authorities of its own and reads none of `SSL_CERT_FILE` and the like; behind a proxy with a private
authority pip works and Java does not. The format is JKS, version 2, as `sun.security.provider.JavaKeyStore` writes it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

MAGIC = 0xFEEDFEED
VERSION = 2
TRUSTED_CERTIFICATE = 2
PASSWORD = "changeit"  # noqa: S105 - Java's own default; it guards nothing, the content is public
WHITENER = b"Mighty Aphrodite"


def jks(certificates: Sequence[bytes]) -> bytes:
    """Return the trust store of DER-encoded certificates; it may be empty."""
    body = struct.pack(">III", MAGIC, VERSION, len(certificates))
    body += b"".join(_entry(f"ca-{number}", der) for number, der in enumerate(certificates))
    return body + hashlib.sha1(PASSWORD.encode("utf-16-be") + WHITENER + body).digest()  # noqa: S324 - the format's own


def _entry(alias: str, der: bytes) -> bytes:
    created_epoch_ms = 0
    return b"".join(
        (
            struct.pack(">I", TRUSTED_CERTIFICATE),
            _text(alias),
            struct.pack(">Q", created_epoch_ms),
            _text("X.509"),
            struct.pack(">I", len(der)),
            der,
        ),
    )


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">H", len(encoded)) + encoded
