"""Glue's names: all importable; those without an implementation say so, with the place to ask for it."""

from __future__ import annotations

import importlib

import pytest

from awsglue.unsupported import GLUE_CONTEXT
from gluepot.core.errors import ISSUES_URL, NotSupported


@pytest.fixture
def frame(glue_context):
    from awsglue import DynamicFrame

    return DynamicFrame.fromDF(glue_context.spark_session.range(3), glue_context, "numbers")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("awsglue.context", "GlueContext"),
        ("awsglue.job", "Job"),
        ("awsglue.utils", "getResolvedOptions"),
        ("awsglue.utils", "GlueArgumentError"),
        ("awsglue.transforms", "GlueTransform"),
        ("awsglue.dynamicframe", "DynamicFrame"),
        ("awsglue.dynamicframe", "DynamicFrameCollection"),
        ("awsglue.dynamicframe", "DynamicFrameReader"),
        ("awsglue.dynamicframe", "DynamicFrameWriter"),
        ("awsglue.dynamicframe", "ResolveOption"),
    ],
)
def test_what_generated_scripts_import_is_there(module, name):
    assert isinstance(getattr(importlib.import_module(module), name), object)


def assert_says_so(error: Exception, name: str) -> None:
    assert str(error).startswith(f"{name} is not supported by this version of Gluepot.")
    assert str(error).endswith(ISSUES_URL)


@pytest.mark.parametrize("name", sorted(GLUE_CONTEXT))
def test_an_unsupported_method_of_glue_context_names_itself(glue_context, name):
    with pytest.raises(NotSupported) as raised:
        getattr(glue_context, name)

    assert_says_so(raised.value, f"GlueContext.{name}")


def test_a_script_that_looks_before_it_uses_a_newer_name_goes_on(frame, glue_context):
    assert hasattr(frame, "mergeDynamicFrame")
    assert not hasattr(glue_context, "transition_table")


def test_a_name_that_glue_does_not_have_either_is_a_plain_attribute_error(frame):
    with pytest.raises(AttributeError, match=r"'DynamicFrame' object has no attribute 'purge'$") as raised:
        frame.purge  # noqa: B018

    assert not isinstance(raised.value, NotSupported)


def test_a_name_of_spark_data_frames_is_told_with_the_way_to_them(frame):
    with pytest.raises(AttributeError, match="no attribute 'groupby'; a DataFrame has it: call toDF\\(\\) first"):
        frame.groupby("id")
