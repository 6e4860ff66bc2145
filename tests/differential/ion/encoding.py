"""Values of Ion in both encodings, written from the specification of Ion 1.0 alone."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

VERSION = b"\xe0\x01\x00\xea"
SYSTEM = (
    "$ion",
    "$ion_1_0",
    "$ion_symbol_table",
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
)
TYPES = {"null": 0, "bool": 1, "int": 2, "float": 4, "decimal": 5, "timestamp": 6, "symbol": 7, "string": 8, "clob": 9, "blob": 10, "list": 11, "sexp": 12, "struct": 13}  # fmt: skip
_WORDS = {"null", "true", "false", "nan"}
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value in both encodings.

    Args:
        text: the value as text.
        binary: the value in the binary encoding.
        short: a string between double quotes, where `text` is a long string, which an S-expression would join with its
            neighbour.
    """

    text: str
    binary: bytes
    short: str = ""


@dataclass
class Encoder:
    """Encodes values; where the encoding has a choice, it is random.

    Args:
        random: the source of chance.
        symbols: the texts of the local symbol table.
    """

    random: Random
    symbols: list[str] = field(default_factory=list)

    def null(self, kind: str) -> Encoded:
        """Encode a null of a type; `null.null` may be written as `null`."""
        text = "null" if kind == "null" and self._by_chance() else f"null.{kind}"
        return Encoded(text, bytes([TYPES[kind] << 4 | 15]))

    def flag(self, value: bool) -> Encoded:
        """Encode a boolean."""
        return Encoded(str(value).lower(), bytes([0x10 + value]))

    def integer(self, value: int) -> Encoded:
        """Encode an integer of any size."""
        digits = self.random.choice([f"{abs(value)}", f"{abs(value):_}", f"{abs(value):#x}", f"{abs(value):#b}"])
        text = f"{'-' if value < 0 else ''}{digits}"
        return Encoded(text, self._sized(3 if value < 0 else 2, _unsigned(abs(value))))

    def double(self, value: float) -> Encoded:
        """Encode a double, as a float where that is exact."""
        text = {"inf": "+inf", "-inf": "-inf", "nan": "nan"}.get(str(value)) or f"{value!r}"
        text = text if "e" in text or "n" in text else f"{text}{self.random.choice(['e0', 'E0', 'e+0', 'e-00'])}"
        double, single = struct.pack(">d", value), b""
        if abs(value) < 1e38 or value in {float("inf"), float("-inf")}:
            single = struct.pack(">f", value)
        if double == bytes(8) and self._by_chance():
            return Encoded(text, b"\x40")
        is_exact = single and struct.pack(">d", struct.unpack(">f", single)[0]) == double
        return Encoded(text, b"\x44" + single if is_exact and self._by_chance() else b"\x48" + double)

    def decimal(self, coefficient: int, exponent: int, *, is_negative_zero: bool = False) -> Encoded:
        """Encode `coefficient * 10 ** exponent`."""
        sign = "-" if coefficient < 0 or is_negative_zero else ""
        digits = str(abs(coefficient))
        text = f"{sign}{digits}{self.random.choice('dD')}{exponent}"
        if -60 < exponent <= 0 and self._by_chance():
            whole = digits.rjust(1 - exponent, "0")
            text = f"{sign}{whole[: len(whole) + exponent]}.{whole[len(whole) + exponent :]}"
        body = _var_int(exponent) + _signed(coefficient, is_negative_zero=is_negative_zero)
        if coefficient == 0 and exponent == 0 and not is_negative_zero and self._by_chance():
            body = b""
        return Encoded(text, self._sized(5, body))

    def timestamp(self, local: datetime, precision: str, offset: int | None, fraction: str) -> Encoded:
        """Encode a timestamp.

        Args:
            local: the time as a clock of the place shows it, without a zone.
            precision: `year`, `month`, `day`, `minute` or `second`.
            offset: minutes; None if it is unknown.
            fraction: digits of the second.
        """
        forms = {
            "year": "{0.year:04}T",
            "month": "{0.year:04}-{0.month:02}T",
            "day": "{0.year:04}-{0.month:02}-{0.day:02}",
        }
        if precision in forms:
            text = forms[precision].format(local) + ("T" if precision == "day" and self._by_chance() else "")
            parts = [local.year, local.month, local.day][: list(forms).index(precision) + 1]
            return Encoded(text, self._sized(6, b"\xc0" + b"".join(map(_var_uint, parts))))
        text = f"{local.year:04}-{local.month:02}-{local.day:02}T{local.hour:02}:{local.minute:02}"
        if precision == "second":
            text += f":{local.second:02}" + (f".{fraction}" if fraction else "")
        sign = "-" if (offset or 0) < 0 or offset is None else "+"
        zone = f"{sign}{abs(offset or 0) // 60:02}:{abs(offset or 0) % 60:02}"
        text += "Z" if offset == 0 and self._by_chance() else zone
        return Encoded(text, self._zoned(local, precision, offset, fraction))

    def _zoned(self, local: datetime, precision: str, offset: int | None, fraction: str) -> bytes:
        try:
            utc = local - timedelta(minutes=offset or 0)
        except OverflowError:
            return b""  # the binary encoding holds years 1 to 9999 in UTC
        body = b"\xc0" if offset is None else _var_int(offset)
        body += b"".join(map(_var_uint, [utc.year, utc.month, utc.day, utc.hour, utc.minute]))
        if precision == "second":
            body += _var_uint(utc.second)
            if fraction:
                body += _var_int(-len(fraction)) + _signed(int(fraction))
        return self._sized(6, body)

    def symbol(self, text: str | None) -> Encoded:
        """Encode a symbol; None is the one without a text."""
        number = self._symbol_id(text)
        written = "$0" if text is None else f"${number}" if text in SYSTEM and self._by_chance() else self._name(text)
        return Encoded(written, self._sized(7, _unsigned(number)))

    def string(self, value: str) -> Encoded:
        """Encode a string."""
        if self._by_chance(0.2):
            at = self.random.randint(0, len(value))
            text = f"{_quoted(value[:at], chr(39) * 3)} {_quoted(value[at:], chr(39) * 3)}"
        else:
            text = _quoted(value, '"')
        return Encoded(text, self._sized(8, value.encode()), _quoted(value, '"'))

    def blob(self, value: bytes) -> Encoded:
        """Encode bytes."""
        text = base64.b64encode(value).decode()
        return Encoded(f"{{{{{self._space()}{text}{self._space()}}}}}", self._sized(10, value))

    def clob(self, value: bytes) -> Encoded:
        """Encode bytes that have mostly the codes of ASCII."""
        inner = "".join(chr(one) if 32 <= one < 127 and one not in b"\"'\\" else f"\\x{one:02x}" for one in value)
        text = f'"{inner}"' if self._by_chance(0.7) else f"'''{inner}''' ''''''"
        return Encoded(f"{{{{{text}}}}}", self._sized(9, value))

    def sequence(self, items: Iterable[Encoded]) -> Encoded:
        """Encode a list."""
        items = [*items]
        text = ",".join(f"{self.space()}{one.text}{self.space()}" for one in items)
        return Encoded(f"[{text}]", self._sized(11, self._joined(items)))

    def expression(self, items: Iterable[Encoded]) -> Encoded:
        """Encode an S-expression."""
        items = [*items]
        return Encoded(f"({' '.join(one.short or one.text for one in items)} )", self._sized(12, self._joined(items)))

    def record(self, fields: Iterable[tuple[str | None, Encoded]]) -> Encoded:
        """Encode a struct."""
        pairs = [(name, self._symbol_id(name), value) for name, value in fields]
        texts = [f"{self.space()}{self._field(name)}{self.space()}:{value.text}" for name, _, value in pairs]
        ids = [number for _, number, _ in pairs]
        body = b"".join(
            (b"\x80\x01\xff" if self._by_chance(0.05) else b"") + _var_uint(number) + value.binary
            for _, number, value in pairs
        )  # the first is padding
        if ids == sorted(set(ids)) and body and self._by_chance(0.3):
            binary = b"\xd1" + _var_uint(len(body)) + body
        else:
            binary = self._sized(13, body)
        return Encoded("{" + ",".join(texts) + self.space() + "}", binary)

    def annotated(self, value: Encoded, names: Iterable[str]) -> Encoded:
        """Encode a value with annotations, at least one."""
        names = [*names]
        ids = b"".join(_var_uint(self._symbol_id(name)) for name in names)
        body = _var_uint(len(ids)) + ids + value.binary
        return Encoded("::".join([*map(self._name, names), value.short or value.text]), self._sized(14, body))

    def table(self) -> bytes:
        """Return the binary local symbol table."""
        names = b"".join(self._sized(8, one.encode()) for one in self.symbols)
        body = _var_uint(7) + self._sized(11, names)
        value = self._sized(13, body)
        return self._sized(14, b"\x81" + _var_uint(3) + value)

    def space(self) -> str:
        """Return white space or a comment."""
        return self.random.choice(["", "", "", " ", "\n", "\t", " /* } */", " // ]\n"])

    def _space(self) -> str:
        return self.random.choice(["", " ", "\n"])

    def _by_chance(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def _symbol_id(self, text: str | None) -> int:
        if text is None:
            return 0
        if text in SYSTEM:
            return SYSTEM.index(text) + 1
        if text not in self.symbols:
            self.symbols.append(text)
        return self.symbols.index(text) + len(SYSTEM) + 1

    def _name(self, text: str) -> str:
        is_plain = text.isidentifier() and text.isascii() and text not in _WORDS
        return text if is_plain and self._by_chance() else _quoted(text, "'")

    def _field(self, text: str | None) -> str:
        if text is None:
            return "$0"
        # The library takes "$9" for the symbol 9 (docs/limits.md).
        return _quoted(text, '"') if self._by_chance(0.3) and text != "$9" else self._name(text)

    def _joined(self, items: Iterable[Encoded]) -> bytes:
        return b"".join((b"\x01\xff" if self._by_chance(0.05) else b"") + one.binary for one in items)

    def _sized(self, kind: int, body: bytes) -> bytes:
        must = kind == 13 and len(body) == 1  # what would be the mark of sorted fields
        if len(body) < 14 and not must and self._by_chance(0.9):
            return bytes([kind << 4 | len(body)]) + body
        return bytes([kind << 4 | 14]) + _var_uint(len(body)) + body


def _quoted(text: str, quote: str) -> str:
    escaped = "".join(_ESCAPES.get(one, f"\\{one}" if one == quote[0] else one) for one in text)
    return f"{quote}{escaped}{quote}"


def _unsigned(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8)


def _signed(value: int, *, is_negative_zero: bool = False) -> bytes:
    if value == 0:
        return b"\x80" if is_negative_zero else b""
    data = bytearray(abs(value).to_bytes(abs(value).bit_length() // 8 + 1))
    data[0] |= 0x80 if value < 0 else 0
    return bytes(data)


def _var_uint(value: int) -> bytes:
    data = [value & 0x7F | 0x80]
    while value := value >> 7:
        data.append(value & 0x7F)
    return bytes(reversed(data))


def _var_int(value: int) -> bytes:
    rest, data = abs(value), []
    while rest > 0x3F:
        data.append(rest & 0x7F)
        rest >>= 7
    data.append(rest | (0x40 if value < 0 else 0))
    data[0] |= 0x80
    return bytes(reversed(data))
