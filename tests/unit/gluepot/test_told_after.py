from threading import Event

from gluepot.cli.output import told_after

SENTENCE = "The broker does not answer yet."


def test_a_wait_that_takes_long_is_told_and_a_short_one_is_not(monkeypatch):
    told, said = Event(), []

    def said_to_people(text, **_):
        said.append(text)
        told.set()

    monkeypatch.setattr("builtins.print", said_to_people)
    with told_after(60.0, SENTENCE):
        pass
    assert said == []
    with told_after(0.01, SENTENCE):
        assert told.wait(20)
    assert said == [SENTENCE]
