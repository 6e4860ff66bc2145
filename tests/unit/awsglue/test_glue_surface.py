"""The public names and signatures of Glue's Python library, as its documentation gives them."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from gluepot.core.errors import NotSupported

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "glue_surface.json").read_text())
NOT_YET = set(RECORDED["not_yet"])
CALLS = [(owner, name) for owner, names in RECORDED["signatures"].items() for name in names]


def _found(path: str) -> object:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(_found(module), name)


def _arguments(signature: inspect.Signature) -> list[tuple]:
    return [
        (one.name, one.default, one.kind) for one in signature.parameters.values() if one.name not in {"self", "cls"}
    ]


def _recorded(owner: str, name: str) -> list[tuple]:
    return _arguments(inspect.signature(eval(f"lambda {RECORDED['signatures'][owner][name]}: None")))


@pytest.mark.parametrize(
    ("owner", "name"),
    [call for call in CALLS if ".".join(call) not in NOT_YET],
    ids=lambda part: part.rpartition(".")[2],
)
def test_a_call_takes_the_arguments_it_takes_in_glue(owner, name):
    ours = _arguments(inspect.signature(inspect.getattr_static(_found(owner), name).__get__(None, object)))
    wanted = _recorded(owner, name)

    assert [(argument, kind) for argument, _, kind in ours[: len(wanted)]] == [(one, kind) for one, _, kind in wanted]
    for (_, default, _), (argument, recorded, _) in zip(ours, wanted, strict=False):
        assert recorded == default or recorded is inspect.Parameter.empty, argument
    assert all(default is not inspect.Parameter.empty for _, default, _ in ours[len(wanted) :])


@pytest.mark.parametrize("path", sorted(NOT_YET))
def test_a_call_that_is_not_there_yet_says_so(path):
    owner, _, name = path.rpartition(".")
    cls = _found(owner)
    said = f"{cls.__name__} is not supported" if name == "__call__" else f"{cls.__name__}.{name} is not supported"

    with pytest.raises(NotSupported, match=said):
        getattr(object.__new__(cls), name)()


def test_the_list_of_what_is_not_there_yet_names_only_calls_of_glue():
    assert {".".join(call) for call in CALLS} >= NOT_YET


def test_a_star_import_of_the_transforms_gives_exactly_glues_names():
    names: dict[str, object] = {}
    exec("from awsglue.transforms import *", names)

    assert sorted(names.keys() - {"__builtins__"}) == RECORDED["exported_transforms"]


@pytest.mark.parametrize("path", RECORDED["importable"])
def test_what_scripts_import_is_there(path):
    module, _, name = path.rpartition(".")

    assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", RECORDED["exported_transforms"])
def test_a_transform_describes_each_of_its_arguments(name):
    transform = getattr(importlib.import_module("awsglue.transforms"), name)

    described = {one["name"]: one["optional"] for one in transform.describeArgs()}

    assert described == {
        argument: default is not inspect.Parameter.empty or kind is inspect.Parameter.VAR_KEYWORD
        for argument, default, kind in _recorded(f"awsglue.transforms.{name}", "__call__")
    }
    assert (
        json.loads(importlib.import_module("awsglue.transforms").describe_transform(name))["transform"]["name"] == name
    )


def test_transforms_are_found_in_any_letter_case():
    from awsglue.transforms import ApplyMapping, get_transform

    assert get_transform("applymapping") is ApplyMapping
