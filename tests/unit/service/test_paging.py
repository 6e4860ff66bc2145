"""Pages of answers."""

import pytest

from gluepot.service.errors import ServiceError
from gluepot.service.paging import page, scanned


def followed(ask):
    """Return all pages, following the tokens."""
    pages, token = [], {}
    while True:
        found, more = ask(token)
        pages.append(found)
        if not more:
            return pages
        token = more


def test_pages_of_known_entries_follow_each_other():
    def ask(token):
        answer = page(range(5), {"MaxResults": 2, **token}, "Found", 100, str)
        return answer.pop("Found"), answer

    assert followed(ask) == [["0", "1"], ["2", "3"], ["4"]]


@pytest.mark.parametrize("count", [0, 3, 999, 1000, 1001, 2500])
@pytest.mark.parametrize("every", [1, 700])
def test_pages_of_scanned_entries_hold_each_entry_once(count, every):
    entries = [f"{number:05}" for number in range(count)]

    def fetch(after, most):
        return [one for one in entries if one > after][:most]

    def ask(token):
        return scanned(
            fetch,
            lambda one: one,
            lambda some: [one for one in some if int(one) % every == 0],
            {"MaxResults": 400, **token},
            100,
        )

    pages = followed(ask)
    assert [one for found in pages for one in found] == entries[::every]
    assert all(found for found in pages[1:])


@pytest.mark.parametrize("token", ["made up", "eA==", "((((", "é"])
def test_a_token_that_no_answer_had_is_refused(token):
    with pytest.raises(ServiceError, match="use a token from an earlier response"):
        page([], {"NextToken": token}, "Found", 100, str)
