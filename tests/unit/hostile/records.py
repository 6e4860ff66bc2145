"""Records that are not what they should be: written down one by one, cut from good ones, and made by chance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

GOOD = (
    b'{"id": 1, "name": "caf\xc3\xa9", "tags": ["a", "b"], "at": {"lat": 1.5, "lon": -2e3}, "ok": true, "none": null}',
    b'{"\\u0041": "\\ud83d\\ude00", "deep": [[[{"x": [1, 2.5, "three", null, {"y": false}]}]]]}',
    b'{"a.b": 9223372036854775807, "": "empty", "`": -0.0, "big": 123456789012345678901234567890}',
)

WRITTEN_DOWN: tuple[bytes | None, ...] = (
    None, b"", b" ", b"\n", b"\0", b"\xef\xbb\xbf", b'\xef\xbb\xbf{"id": 1}', b"null", b"true", b"1", b'"text"', b"[]", b'[{"id": 1}]',
    b"{", b"}", b"{}}", b"{{}", b"{]", b"[}", b'{"a"}', b'{"a":}', b'{"a":,}', b'{"a":1,}', b'{,"a":1}', b'{"a":1 "b":2}', b'{"a" 1}',
    b"{a:1}", b"{'a':1}", b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":5.}', b'{"a":1e}', b'{"a":1e+}', b'{"a":0x1}', b'{"a":1_000}',
    b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":nan}', b'{"a":True}', b'{"a":nul}', b'{"a":undefined}', b'{"a":--1}',
    b'{"a":"\\x41"}', b'{"a":"\\u12"}', b'{"a":"\\u12G4"}', b'{"a":"\t"}', b'{"a":"\n"}', b'{"a":"\0"}', b'{"a":"open}', b'{"a":"\\"}',
    b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}', b'{"a":"\xff"}', b'{"a":"\xc0\x80"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xf5\x80\x80\x80"}',
    b"\xff\xfe{\x00}\x00", b"\x00{\x00}", b'{"a":1}{"b":2}', b'{"a":1}\n{"b":2}', b'{"a":1} x', b'{"a":1}//x', b'/*x*/{"a":1}', b'{"a":1};',
    b'{"a":1,"a":2}', b'{"a":1,"A":2}', b'{"a":{"b":1,"b":"x"}}', b'{"a":[1,]}', b'{"a":[,1]}', b'{"a":[1 2]}', b'{"a":[1}', b'{"a":{"b":1]}',
    b"{" * 40 + b"}" * 40, b"[" * 100_000, b'{"a":' * 32 + b"1" + b"}" * 32, b'{"a":' * 31 + b"1" + b"}" * 31, b'{"a":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
    b'{"a":1e400}', b'{"a":-1e400}', b'{"a":1e-400}', b'{"a":' + b"9" * 5_000 + b"}", b'{"a":-9223372036854775809}', b'{"a":18446744073709551616}',
    b'{"a":0.' + b"1" * 3_000 + b"}", b'{"a":"' + b"x" * 1_000_000 + b'"}', b'{"' + b"k" * 10_000 + b'":1}', b"\x1f\x8b\x08\x00garbage", b"PAR1",
    b"<xml/>", b"a,b,c", b'  {"id": 7}  ', b'\t{"id":\r\n8}\n', b"{}", b'{"":{"":{"":1}}}', b'{"a":[]}', b'{"a":{}}', b'{"a":[[],{},null]}',
)  # fmt: skip


def hand_made() -> list[bytes | None]:
    """Return the written-down ones, and good ones cut off at every byte or with one byte of them changed."""
    cut = [good[:end] for good in GOOD for end in range(len(good))]
    changed = [
        good[:at] + wrong + good[at + 1 :]
        for good in GOOD
        for at in range(0, len(good), 3)
        for wrong in (b"\x80", b'"')
    ]
    return [*WRITTEN_DOWN, *cut, *changed]


def fuzzed(random: Random, count: int) -> Iterator[bytes]:
    """Yield good records with a few random edits each; some of them stay good."""
    for number in range(count):
        record = json.dumps({"id": number, "v": _value(random, 3)}, ensure_ascii=random.random() < 0.5).encode()
        yield edited(random, record)


def edited(random: Random, good: bytes) -> bytes:
    """Return bytes with a few random edits, or with none."""
    record = bytearray(good)
    for _ in range(random.choice((0, 0, 1, 1, 2, 5))):
        at = random.randrange(len(record) + 1)
        match random.randrange(4):
            case 0:
                record[at:at] = random.choice(
                    (b"{", b"}", b'"', b"[", b",", b"\\", b"\xff", b"\0", b" ", b"1", b"null")
                )
            case 1:
                del record[at : at + random.randrange(1, 8)]
            case 2 if at < len(record):
                record[at] = random.randrange(256)
            case _:
                record[at:at] = bytes(random.randrange(256) for _ in range(random.randrange(4)))
    return bytes(record)


def _value(random: Random, levels: int) -> object:
    kind = random.randrange(9 if levels else 6)
    match kind:
        case 0:
            return random.choice((None, True, False))
        case 1:
            return random.choice((0, -1, 2**31, 2**63 - 1, -(2**63), random.randrange(10**6)))
        case 2:
            return random.choice((0.5, -1e300, 5e-324, random.random()))
        case 3 | 4 | 5:
            return "".join(random.choice('abc "\\/\u00e9\u4e2d\U0001f600\u2028') for _ in range(random.randrange(12)))
        case 6:
            return [_value(random, levels - 1) for _ in range(random.randrange(4))]
        case _:
            return {
                random.choice("xyzXé. ") * random.randrange(3): _value(random, levels - 1)
                for _ in range(random.randrange(4))
            }
