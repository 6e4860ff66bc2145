import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.option_values import flag, is_true, number, truth


@pytest.mark.parametrize("value", [True, "true", "True", " TRUE ", "1", 1, "yes", "on"])
def test_these_say_true(value):
    assert truth(value) is True
    assert flag({"a": value}, "a") is True


@pytest.mark.parametrize("value", [False, "false", "False", "0", 0, "no", "off"])
def test_these_say_false(value):
    assert truth(value) is False
    assert flag({"a": value}, "a", default=True) is False


@pytest.mark.parametrize("value", [None, "maybe", "2", [], "truee"])
def test_others_say_neither(value):
    assert truth(value) is None
    assert not is_true(value)
    with pytest.raises(ConfigError, match=r"a is .*; use true or false"):
        flag({"a": value}, "a")


def test_an_empty_text_says_neither_and_switches_off():
    assert truth("") is None
    assert flag({"a": ""}, "a", default=True) is False


def test_a_switch_that_is_not_given_is_its_default():
    assert flag({}, "a") is False
    assert flag({}, "a", default=True) is True


def test_a_whole_number_may_be_a_text_and_may_be_left_out():
    assert number({"a": " 5 "}, "a") == 5
    assert number({"a": ""}, "a") is None
    assert number({}, "a") is None


@pytest.mark.parametrize("value", ["x", 0, "-1", 1.5])
def test_what_is_no_whole_number_from_the_least_on_is_refused(value):
    with pytest.raises(ConfigError, match=r"a is .*; use an integer of 1 or more"):
        number({"a": value}, "a")
