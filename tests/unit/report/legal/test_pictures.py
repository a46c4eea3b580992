"""The figure of beliefs in an impact assessment."""

from fractions import Fraction

import legal_papers as papers
from confide.drawing.words import load_words
from confide.privacy.loss import PureDP
from confide.report.legal.pictures import _curves
from confide.report.legal.scribe import Scribe
from kept_texts import assert_kept, chart_text


def test_beliefs_are_moved_by_the_odds_of_each_window_and_the_ends_stay():
    scribe = Scribe(
        words=load_words("en", part="legal"), subject=papers.release_subject(), law=papers.LAW
    )
    losses = [PureDP(epsilon=Fraction(1)), PureDP(epsilon=Fraction(2000))]
    drawn = _curves(losses, names=["this release", "all time"], scribe=scribe)
    assert_kept("legal/beliefs.txt", chart_text(drawn))
