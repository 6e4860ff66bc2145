"""Small files that describe records too large for the memory: each ends in one sentence, in little memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

MOST_BYTES = 500 << 20
# A process of its own, whose largest memory is that of reading this file alone.
READ = """
import sys
from pathlib import Path
from etlcore.errors import EtlError
from tests.unit.files.reading import chunks
try:
    for chunk in chunks(Path(sys.argv[1]), sys.argv[2], **eval(sys.argv[3])):
        for error in chunk.errors:
            print(error.reason)
except EtlError as error:
    print(error)
[peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(int(peak) << 10)
"""


def read(folder: Path, name: str, data: bytes, format_name: str, **options: object) -> tuple[list[str], int]:
    """Return what reading a file says, and the memory it took at most, in bytes."""
    (folder / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(folder), format_name, repr(options)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    *said, peak = done.stdout.splitlines()
    return said, int(peak)


def gzipped(head: bytes, filling: bytes, times: int, tail: bytes) -> bytes:
    """Return gzip of a megabyte of a filling, so many times, between a head and a tail."""
    block = gzip.compress(filling * ((1 << 20) // len(filling)))
    return gzip.compress(head) + block * times + gzip.compress(tail)


XML_BOMBS = {
    "deep": gzip.compress(b"<a><row>" + b"<b>" * 900 + b"</b>" * 900 + b"</row></a>"),
    "deep outside of records": gzipped(b"<a>", b"<b>", 10, b""),
    "wide": gzipped(b"<a><row>", b"<b/>", 100, b"</row></a>"),
    "long text": gzipped(b"<a><row>", b"x", 400, b"</row></a>"),
    "long name": gzipped(b"<a><row><x", b"x", 400, b"/></row></a>"),
    "entities": gzipped(b'<!DOCTYPE a [<!ENTITY e "' + b"x" * 80_000 + b'">]><a><row>', b"&e;", 2, b"</row></a>"),
}


@pytest.mark.parametrize("bomb", XML_BOMBS)
def test_xml(tmp_path, bomb):
    said, peak_bytes = read(tmp_path, "a.xml.gz", XML_BOMBS[bomb], "xml", rowTag="row")
    assert len(said) == 1
    assert "a.xml.gz" in said[0]
    assert peak_bytes < MOST_BYTES
