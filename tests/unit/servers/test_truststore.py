from __future__ import annotations

import hashlib
import struct

from gluepot.servers.jars.truststore import jks


def test_store_has_each_certificate_once_and_ends_with_its_digest():
    store = jks([b"first", b"second"])
    assert struct.unpack(">III", store[:12]) == (0xFEEDFEED, 2, 2)
    assert [store.count(struct.pack(">I", len(der)) + der) for der in (b"first", b"second")] == [1, 1]
    salted = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    assert store[-20:] == hashlib.sha1(salted + store[:-20]).digest()
