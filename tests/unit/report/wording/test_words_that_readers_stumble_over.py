"""Words of our own dialect that physicians stumbled over: no page and no template has them."""

import re

import pytest

from confide.drawing.words import load_words
from told_reports import REFUSED, stumbled_over


@pytest.mark.parametrize("pattern", REFUSED)
def test_each_of_the_words_is_seen(pattern):
    assert stumbled_over(REFUSED[pattern]) == [pattern]


@pytest.mark.parametrize("part", ["page", "legal"])
def test_no_sentence_has_words_that_readers_stumble_over(part):
    templates = load_words("en", part=part).templates
    found = {key: bad for key, text in templates.items() if (bad := stumbled_over(text))}
    assert found == {}


def test_no_page_of_any_kind_has_words_that_readers_stumble_over(files):
    for name in ("report.html", "methods.md"):
        text = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", files[name].decode(), flags=re.DOTALL)
        assert stumbled_over(text) == []
