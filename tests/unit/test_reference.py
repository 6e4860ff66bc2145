"""The pages of docs/reference are those that the code makes."""

from __future__ import annotations

import pytest

from gluepot.cli import exit_codes
from gluepot.core import errors
from scripts import reference


@pytest.mark.parametrize("page", ["commands.md", "environment.md", "errors.md"])
def test_a_page_of_the_reference_is_that_of_the_code(page):
    path = reference.FOLDER / page
    assert path.read_text(encoding="utf-8") == reference.pages()[path], "run `python -m scripts.documents`"


def test_each_variable_that_the_code_names_is_in_the_reference():
    assert reference.variables_in_code() - reference.known_variables() == set()


def test_each_variable_of_gluepot_in_the_reference_is_named_in_the_code():
    ours = {name for name in reference.known_variables() if name.startswith("GLUEPOT_")}
    assert ours - reference.variables_in_code() == set()


def test_each_kind_of_error_has_an_exit_code_and_a_remedy():
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.EtlError) and kind is not errors.EtlError
    }
    assert set(reference.KINDS) == kinds
    assert {code for code, _ in reference.KINDS.values()} <= set(exit_codes.MEANINGS)
