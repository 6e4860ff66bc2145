"""Records that are not as uniform as those of `shapes`: each makes one thing harder for whoever infers a schema."""

from __future__ import annotations

from random import Random

from benchmarks.drain.shapes import CLICK_CHECKED, COUNTRIES, VISIT_CHECKED, Shape, click, visit

_DEPTH = 8
_WIDE = 300
_SCRIPTS = ("größe", "名前は花子です", "привет", "🌸🌍", "مرحبا", "ñandú")


def _changing(number: int, chance: Random) -> dict[str, object]:
    """A field that is a whole number or a text, from record to record, on the top and in an object."""
    event = click(number, chance)
    device = {**event["device"], "width_px": _either(chance, 1920)}  # type: ignore[dict-item]
    return {**event, "duration_ms": _either(chance, 30_000), "device": device}


def _either(chance: Random, most: int) -> object:
    return chance.randrange(most) if chance.random() < 0.5 else f"about {chance.randrange(most)}"


def _optional(number: int, chance: Random) -> dict[str, object]:
    """Each field but three is missing in half of the records."""
    event = click(number, chance)
    return {name: value for name, value in event.items() if name in _ALWAYS or chance.random() < 0.5}


_ALWAYS = ("event_id", "country", "session")


def _shuffled(number: int, chance: Random) -> dict[str, object]:
    """Keys in random order."""
    fields = list(click(number, chance).items())
    chance.shuffle(fields)
    return dict(fields)


def _wide(number: int, chance: Random) -> dict[str, object]:
    """300 columns."""
    event = visit(number, chance)
    return {**event, **{f"column_{at}": chance.randrange(1000) if at % 3 else f"{at:x}" for at in range(_WIDE)}}


def _deep(number: int, chance: Random) -> dict[str, object]:
    """Objects in objects, eight deep, and a list of objects in the last one."""
    inner: dict[str, object] = {"list": [{"at": at, "tag": chance.choice(COUNTRIES)} for at in range(3)]}
    for level in range(_DEPTH):
        inner = {f"level_{level}": inner, "n": chance.randrange(100), "text": f"level {level}"}
    return {**visit(number, chance), "deep": inner}


def _long(number: int, chance: Random) -> dict[str, object]:
    """A text of 8 to 16 kB."""
    word = f"{chance.getrandbits(64):016x} "
    return {**visit(number, chance), "body": word * chance.randrange(500, 1000)}


def _unicode(number: int, chance: Random) -> dict[str, object]:
    """Names and values beyond ASCII, some of them escaped as JSON may."""
    texts = [f"{chance.choice(_SCRIPTS)} {chance.randrange(1000)} \n\t\"'" for _ in range(4)]
    return {**visit(number, chance), "größe": texts[0], "名前": texts[1], "note": texts[2], "tags": texts[2:]}


_BROKEN_EVERY = 1_000
_LAST = ".".join(("deep", *(f"level_{level}" for level in reversed(range(_DEPTH))), "list"))

ODD_SHAPES = {
    "changing": Shape(_changing, "", tuple(CLICK_CHECKED)),
    "optional": Shape(_optional, "", tuple(CLICK_CHECKED)),
    "shuffled": Shape(_shuffled, "", tuple(CLICK_CHECKED)),
    "wide": Shape(_wide, "", (*VISIT_CHECKED, *(f"column_{at}" for at in range(_WIDE)))),
    "deep": Shape(_deep, "", (*VISIT_CHECKED, "deep.n", _LAST)),
    "long": Shape(_long, "", (*VISIT_CHECKED, "body")),
    "broken": Shape(click, "", tuple(CLICK_CHECKED), _BROKEN_EVERY),
    "unicode": Shape(_unicode, "", (*VISIT_CHECKED, '"größe"', '"名前"', "note", "tags")),
}
"""They have no schema by hand, so that only sides that infer one drain them."""
