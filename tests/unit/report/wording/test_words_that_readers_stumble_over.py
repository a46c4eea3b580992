"""Words of our own dialect that physicians stumbled over: no page and no template has them."""

import re

import pytest

from confide.drawing.words import load_words

REFUSED = {
    r"Patients in \w+ with known": "Patients in residents with known sex, follow up and died",
    r"[Ll]owest: .*[Hh]ighest: ": "Lowest: women, 3; highest: men, 8",
    r"In brackets: ": "In brackets: 95 % intervals",
    r"for the noise alone": "Lines: 95 % intervals for the noise alone",
    r"without the event at the horizon": "82 % are without the event at the horizon",
    r"is clipped to|, clipped to ": "age is clipped to [0, 60]",
    r"has \w+ public values|has \{\w+\} public values": "sex has 2 public values",
    r"[Tt]aken by itself": "Taken by itself: ε = 0.143",
    r"at a rate more than .* above the rate": (
        "finds members at a rate more than 0.749 above the rate at which it accuses outsiders"
    ),
    r"risks that are right": "dashed: risks that are right",
    r"[Ww]ho is randomised again": "Who is randomised again gives as much away again",
}


def stumbled_over(text):
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    return [pattern for pattern in REFUSED if re.search(pattern, plain)]


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
